// What the domain wants to be probed, carried out in this process: reads the control segment's slots, and has the agent
// write jumps and take them out. For the agent's thread, and for the one that loads the agent before there are others.
#pragma once

#include <vector>

#include "agent/agent.hpp"
#include "client/attachment.hpp"

namespace landtrace::agent_object {

class Sites {
 public:
  explicit Sites(agent::Agent& agent) : agent_(agent) {}

  // Brings the process up to what the domain wants now; `changes` is what it has seen of it.
  void follow(const client::Place& place);
  [[nodiscard]] std::uint32_t changes() const { return changes_; }

  // What became of places may be something else: objects have come or gone, or what was in the way.
  void show_again();
  // A place where threads were in the way may be patched by now.
  [[nodiscard]] bool has_busy() const;
  // Nothing is wanted until there is another owner.
  void let_all_go();
  // A program that has ended is asked no more what was at its addresses.
  void note_objects(const client::Place& place) const;

 private:
  void show(std::uint32_t slot, const agent::Outcome& outcome);
  // Of what has changed since it was told.
  void tell_owner();

  agent::Agent& agent_;
  const plan::ControlSegment* control_ = nullptr;  // of the owner whose places these are
  struct Known {
    std::uint32_t generation;  // 0: none
    std::uint32_t version;
    std::uint8_t refused;  // an agent::Reason
    std::uint8_t told;     // what the owner knows of that
  };
  std::vector<Known> known_;  // by slot
  std::uint32_t changes_ = 0;
};

}  // namespace landtrace::agent_object
