// The clocks of a tracefs `trace_clock` file, and what each of them is here: the one list of them.
#pragma once

#include <cstdint>
#include <ctime>
#include <iterator>
#include <string_view>

namespace landtrace::arch {

struct TraceClock {
  std::string_view name;
  clockid_t system;       // of clock_gettime(); not for a raw one
  std::uint64_t unit_ns;  // what one of its units is, 0: it shows the raw clock itself, which only puts events in order

  [[nodiscard]] constexpr bool is_raw() const { return unit_ns == 0; }
  [[nodiscard]] constexpr bool is_in_ns() const { return unit_ns == 1; }
};

// In the order in which the file lists them.
inline constexpr TraceClock kTraceClocks[] = {
    {"local", CLOCK_MONOTONIC, 1},
    {"global", CLOCK_MONOTONIC, 1},
    {"counter", CLOCK_MONOTONIC, 0},
    {"uptime", CLOCK_MONOTONIC, 10'000'000},  // ticks of which a second has a hundred
    {"perf", CLOCK_MONOTONIC, 1},
    {"mono", CLOCK_MONOTONIC, 1},
    {"mono_raw", CLOCK_MONOTONIC_RAW, 1},
    {"boot", CLOCK_BOOTTIME, 1},
    {"tai", CLOCK_TAI, 1},
    {"x86-tsc", CLOCK_MONOTONIC, 0},
};

// Null for a name that no clock has.
constexpr const TraceClock* trace_clock_named(std::string_view name) {
  for (const TraceClock& clock : kTraceClocks) {
    if (clock.name == name) return &clock;
  }
  return nullptr;
}

}  // namespace landtrace::arch
