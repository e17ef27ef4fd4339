// Stacks, folded: a line for each that occurred, and how often, as flamegraph.pl and others read them.
//
//   app;_start;main;handle 12
//
// An event without a stack stands under its own name: "app;user_events:job 3".
//
// Until its end a file has the same line several times, each with what came since the one before: readers add them up.
#pragma once

#include <map>
#include <string>

#include "output/export/stack_counter.hpp"

namespace landtrace::output {

class FoldedWriter : public StackCounter {
 public:
  using StackCounter::StackCounter;

  void event(const ExportedEvent& event) override;
  void checkpoint() override;
  void end() override;

 protected:
  // How often each line occurred.
  std::map<std::string, std::uint64_t> folded();

 private:
  struct Seen {
    std::string comm;
    std::string event;  // empty: it has a stack
    std::uint32_t stack = 0;

    auto operator<=>(const Seen&) const = default;
  };
  std::map<Seen, std::uint64_t> counts_;
  std::map<std::string, std::uint64_t> told_;  // what stands in the file so far, by line
};

}  // namespace landtrace::output
