// The counters of one CPU's ring, as tracefs shows them in per_cpu/cpuN/stats.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace landtrace::output {

// What a recorder knows of and has not dealt with.
struct Outstanding {
  std::uint64_t missing = 0;  // lost, and not told yet
  std::uint64_t waiting = 0;  // recorded, and not given yet

  friend bool operator==(const Outstanding&, const Outstanding&) = default;
};

struct CpuStats {
  std::uint64_t entries = 0;
  std::uint64_t overrun = 0;
  std::uint64_t commit_overrun = 0;
  std::uint64_t bytes = 0;
  std::uint64_t oldest_event_ns = 0;
  std::uint64_t now_ns = 0;
  std::uint64_t dropped = 0;
  std::uint64_t read = 0;
  // Of an unfinished recording: events that were about to be written.
  std::uint64_t waiting = 0;

  // Of the recording of a killed writer, of which `there` events are there: those that were to come and never did.
  [[nodiscard]] std::uint64_t never_came(std::uint64_t there) const {
    return entries + waiting > there ? entries + waiting - there : 0;
  }

  friend bool operator==(const CpuStats&, const CpuStats&) = default;
};

// The text of the stats file, one "name: value" a line. Times are in seconds with six decimals, or plain numbers if
// the clock does not count nanoseconds.
std::string cpu_stats_text(const CpuStats& stats, bool in_ns = true);

// The reverse. Unknown and invalid lines are ignored: kernels differ in what they list.
CpuStats parse_cpu_stats(std::string_view text);

}  // namespace landtrace::output
