// Converts raw times to those of another clock along a line through pairs of readings, for times that are shown after
// the fact. Between two pairs the error is that of one reading (tens of ns), however long ago they were taken, and the
// time that was once given for a raw time between them does not change.
//
// ClockConverter is for whoever converts times as they come and cannot wait for the next pair.
#pragma once

#include <ctime>
#include <functional>
#include <vector>

#include "arch/clock.hpp"

namespace landtrace::arch {

class ClockLine {
 public:
  // Takes the first pair. Times from before it are guesses.
  ClockLine(RawClock raw, clockid_t shown);
  // To a clock that the system has no number for: in ns.
  ClockLine(RawClock raw, std::function<std::uint64_t()> shown);

  // Takes another pair, if it is time for one. Call it after the records whose times are wanted were read.
  void sample();
  // In ns of the clock shown.
  [[nodiscard]] std::uint64_t to_ns(std::uint64_t raw) const {
    if (is_identity_) return raw;
    if (raw < last_.raw) return between(raw);
    return last_.ns + static_cast<std::uint64_t>(static_cast<double>(raw - last_.raw) * slope_);
  }
  [[nodiscard]] RawClock raw_clock() const { return raw_; }

 private:
  struct Pair {
    std::uint64_t raw;
    std::uint64_t ns;
  };
  static constexpr std::size_t kMaxPairs = 8192;

  [[nodiscard]] Pair read_pair() const;
  [[nodiscard]] std::uint64_t between(std::uint64_t raw) const;

  RawClock raw_;
  std::function<std::uint64_t()> shown_;
  bool is_identity_ = false;
  std::vector<Pair> pairs_;  // ascending
  Pair last_{};
  double slope_ = 1.0;  // beyond the last pair
};

}  // namespace landtrace::arch
