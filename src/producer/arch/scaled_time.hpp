// CLOCK_MONOTONIC by the time stamp counter: a multiplication, where the vDSO's clock_gettime() waits until all loads
// before it are done. Each thread keeps its own scale, so nobody writes for it and nobody wakes up to keep it true.
//
//   ns                                  . the system's clock
//    |                         o------'      o: both clocks read at once. From there the counter says how much later
//    |                o------'                  it is, for kStretch_ns; then they are read again.
//    |       o------'
//    +--------------------------------- raw
//
// It is within 50 ns of the system's clock. A reading of both that took longer than kWidest_ns begins no stretch: half
// of that is what it may be wrong by. The slope is that of the last millisecond or more, and counts only where the one
// before was the same; where the system bends its clock within a stretch (adjtime(3): by 500 ppm), that is another 10
// ns. Within a thread it never goes backwards.
#pragma once

#include "arch/thread_time.hpp"

namespace landtrace::arch {

class ScaledTime {
 public:
  constexpr ScaledTime() = default;

  // CLOCK_MONOTONIC in ns. The thread's alone, and its signal handlers'. Async-signal-safe.
  std::uint64_t ns() {
    std::uint64_t raw = 0;
    return ns(raw);
  }
  // `raw` gets what the counter was then; 0 where it was not the counter alone that was asked.
  std::uint64_t ns(std::uint64_t& raw) {
    for (;;) {
      const std::uint32_t version = __atomic_load_n(&version_, __ATOMIC_RELAXED);
      asm volatile("" ::: "memory");
      raw = read_counter();
      const std::uint64_t since = raw - raw_;
      if (__builtin_expect(since >= room_, 0)) {
        raw = 0;
        return read_both();
      }
      const std::uint64_t now = ns_ + (since * slope_ >> kSlopeBits);
      const std::uint64_t floor = floor_;
      // A signal handler may have begun another stretch meanwhile.
      asm volatile("" ::: "memory");
      const bool is_same = __atomic_load_n(&version_, __ATOMIC_RELAXED) == version;
      if (__builtin_expect(is_same, 1)) return now < floor ? floor : now;
    }
  }

  // Whether the counter alone is asked at this moment.
  [[nodiscard]] bool is_scaled() const { return room_ != 0; }

 private:
  static constexpr int kSlopeBits = 32;
  static constexpr std::uint64_t kStretch_ns = 20'000;
  static constexpr std::uint64_t kWidest_ns = 80;
  static constexpr std::uint64_t kShortestSlope_ns = 1'000'000;
  static constexpr std::uint64_t kLongestSlope_ns = 1'000'000'000;

  std::uint64_t read_both();
  [[nodiscard]] std::uint64_t latest(std::uint64_t raw) const;
  void take_slope(std::uint64_t raw, std::uint64_t ns);

  // Of the stretch.
  std::uint64_t raw_ = 0;
  std::uint64_t ns_ = 0;
  std::uint64_t slope_ = 0;  // ns for 2^32 of the counter
  std::uint64_t room_ = 0;   // how long it is, in the counter's units; 0: there is none
  std::uint64_t floor_ = 0;  // where the one before ended: no time before that is told any more
  // Where the slope is measured from, and what it was when it was measured last.
  std::uint64_t slope_raw_ = 0;
  std::uint64_t slope_ns_ = 0;
  std::uint64_t measured_ = 0;
  std::uint32_t version_ = 0;
  std::uint32_t failures_ = 0;  // readings that took too long, one after the other
  bool is_busy_ = false;        // the thread is in read_both(); longjmp() out of a handler may leave that so for ever
};

extern constinit thread_local ScaledTime scaled_time __attribute__((tls_model("initial-exec")));

}  // namespace landtrace::arch
