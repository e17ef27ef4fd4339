// Stacks as https://www.speedscope.app reads them: a profile a thread, of how often each stack occurred. An event
// without a stack stands under its own name.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "output/export/stack_counter.hpp"

namespace landtrace::output {

class SpeedscopeWriter : public StackCounter {
 public:
  using StackCounter::StackCounter;

  void event(const ExportedEvent& event) override;
  void end() override;

 private:
  struct Thread {
    std::string name;
    std::map<std::uint32_t, std::uint64_t> stacks;  // how often, by number
    std::map<std::string, std::uint64_t> events;    // …, by name
  };
  // Of all that were asked for, in the order of their first use.
  std::size_t number_of(const Frame& frame);
  void put_profile(const Thread& thread);

  std::map<std::int32_t, Thread> threads_;
  std::map<std::pair<std::string, std::string>, std::size_t> numbers_;  // by file and name
  std::vector<Frame> used_;
};

}  // namespace landtrace::output
