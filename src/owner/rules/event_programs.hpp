// eBPF programs at events: each is one more of the event's triggers in the top instance, and the event is in soft mode
// there. Whoever calls these holds the domain.
#pragma once

#include <functional>

#include "rules/domain_names.hpp"
#include "rules/trigger_list.hpp"

namespace landtrace::rules {

class EventPrograms {
 public:
  EventPrograms(Events& events, Instances& instances, Listening& listening, TriggerLists& lists)
      : events_(events), instances_(instances), listening_(listening), lists_(lists) {}

  // `program` is the offset of a bpf::Program in the control segment. The event stays as long. ENOSPC.
  Result<void> attach(Event& event, std::uint32_t program);
  // Producers may be in the middle of it: what it needs is freed behind them. False where it was not there (any more).
  bool detach(std::uint32_t event, std::uint32_t program);
  // Called for each new event, before anybody can emit it.
  void set_on_new(std::function<void(Event&)> function) { on_new_ = std::move(function); }
  void came(Event& event) {
    if (on_new_) on_new_(event);
  }
  // The event goes, or the instance: its programs run there no more.
  void drop(Instance& instance, Event& event);

 private:
  Events& events_;
  Instances& instances_;
  Listening& listening_;
  TriggerLists& lists_;
  std::function<void(Event&)> on_new_;
};

}  // namespace landtrace::rules
