// The counters of one CPU's ring, as tracefs shows them in per_cpu/cpuN/stats.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace landtrace::output {

struct CpuStats {
  std::uint64_t entries = 0;
  std::uint64_t overrun = 0;
  std::uint64_t commit_overrun = 0;
  std::uint64_t bytes = 0;
  std::uint64_t oldest_event_ns = 0;
  std::uint64_t now_ns = 0;
  std::uint64_t dropped = 0;
  std::uint64_t read = 0;

  friend bool operator==(const CpuStats&, const CpuStats&) = default;
};

// The text of the stats file, one "name: value" a line. Times are in seconds with six decimals, or plain numbers if
// the clock does not count nanoseconds.
std::string cpu_stats_text(const CpuStats& stats, bool in_ns = true);

// The reverse. Unknown and invalid lines are ignored: kernels differ in what they list.
CpuStats parse_cpu_stats(std::string_view text);

}  // namespace landtrace::output
