// What `landtrace hist` and `landtrace latency` can both be told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/probes/running_programs.hpp"

namespace landtrace::cli {

struct WatchOptions {
  std::string filter;
  std::string interval;
  std::string duration;
  std::uint64_t size = 0;  // of the histogram; 0: as the kernel has it
  bool json = false;
  bool tracefs = false;  // CMD is shown the domain's files
  std::vector<std::string> command;
  RunningPrograms programs;

  std::uint64_t interval_ns = 0;  // 0: shown at the end alone
  std::uint64_t duration_ns = 0;
};

void add_watch_options(Command& command, WatchOptions& options);
// Reads the numbers; people at a terminal see it every second unless they say otherwise. EINVAL.
Result<void> check_watch_options(WatchOptions& options, bool on_terminal);

// "user_events:NAME" for a name without a system.
std::string full_event_name(const std::string& name);
// "latency_ns.log2" -> "latency_ns".
std::string without_modifier(const std::string& field);
// EINVAL where this names no single event; `option` is what the user gave it with.
Result<void> check_event_name(const std::string& option, const std::string& name);
// "a,b".
std::string with_commas(const std::vector<std::string>& words);
// ":size=N", for a table that has room for so many rows; "" by default.
std::string size_text(const WatchOptions& options);
// ":size=N if FILTER", as far as wanted.
std::string trigger_end(const WatchOptions& options);

}  // namespace landtrace::cli
