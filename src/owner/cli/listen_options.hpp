// What a command that records is told about events: -e, -p, --filter and --trigger, and --pid.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/event_rules.hpp"
#include "cli/probes/running_programs.hpp"

namespace landtrace::cli {

struct ListenOptions {
  // `all`: the pattern where there is no -e and no -p.
  explicit ListenOptions(const char* all = kUserEvents) : events(all) {}

  void add_options(Command& command);
  // Reads what was typed, and finds the programs that it is of. Where it is wrong it is said, and the exit status is
  // returned; else 0.
  int check(const std::vector<std::string>& command);

  EventRules events;
  RunningPrograms programs;

  // check() fills these in.
  std::vector<consumer::Session::Selection> selections;
  std::vector<std::pair<std::size_t, ProbeText>> probes;  // with the index of its selection

 private:
  Result<void> read(const std::vector<std::string>& command);
  void add_one(std::size_t index, const ProbeText& probe);
  Result<void> add_usdt(std::size_t index, const ProbeText& text, const std::vector<std::string>& command);
};

}  // namespace landtrace::cli
