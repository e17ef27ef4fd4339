// The raw clock that records carry, and what it means in nanoseconds.
//
// The raw clock is the CPU's time stamp counter where that runs at a constant rate on every CPU, else
// CLOCK_MONOTONIC. The owner of a domain chooses it once, for all producers of the domain.
#pragma once

#include <cstdint>
#include <ctime>
#include <vector>

#include "arch/thread_time.hpp"

namespace landtrace::arch {

enum class RawClock : std::uint32_t { kMonotonic = 0, kTsc = 1 };

// kTsc when the counter is invariant and the kernel itself keeps time by it.
RawClock best_raw_clock();

// CLOCK_MONOTONIC in ns. Async-signal-safe.
inline std::uint64_t monotonic_ns() { return system_clock_ns(CLOCK_MONOTONIC); }

// In every thread, also in one that may not read the counter (thread_time.hpp). Async-signal-safe.
inline std::uint64_t read_raw_clock(RawClock clock) {
  return clock == RawClock::kTsc ? read_counter() : monotonic_ns();
}

// Converts raw times to CLOCK_MONOTONIC along a line that is continuous and never falls: its slope is measured
// over the whole life of the converter, and what it is off by is worked off over the next stretch. The error
// is that of one reading (tens of ns) and does not grow with time.
class ClockConverter {
 public:
  struct Limits {
    std::uint64_t shortest_ns = 10'000'000;  // a sample nearer than this to the last one does nothing
    std::size_t stretches = 8192;            // beyond that the older half of the line is straightened
  };
  // Takes 2 ms to measure a first slope.
  explicit ClockConverter(RawClock clock) : ClockConverter(clock, Limits()) {}
  ClockConverter(RawClock clock, Limits limits);

  // Reads both clocks again and bends the line from here on. Call it now and then while records arrive.
  void sample();
  [[nodiscard]] std::uint64_t to_ns(std::uint64_t raw) const;
  [[nodiscard]] RawClock raw_clock() const { return clock_; }

 private:
  struct Pair {
    std::uint64_t raw;
    std::uint64_t ns;
  };
  struct Stretch {
    Pair start;
    double slope;  // ns per raw unit, until the next stretch starts
  };
  [[nodiscard]] Pair read_pair() const;
  void thin_out();

  RawClock clock_;
  Limits limits_;
  Pair first_{};
  std::vector<Stretch> stretches_;  // ascending
};

}  // namespace landtrace::arch
