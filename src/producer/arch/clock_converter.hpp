// Converts raw times to CLOCK_MONOTONIC as they come.
#pragma once

#include <vector>

#include "arch/clock.hpp"

namespace landtrace::arch {

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
