#include "arch/scaled_time.hpp"

namespace landtrace::arch {

constinit thread_local ScaledTime scaled_time __attribute__((tls_model("initial-exec")));

// A slope that differs from the one before by more than 1/1024 is none: the machine slept, or is another one by now.
void ScaledTime::take_slope(std::uint64_t raw, std::uint64_t ns) {
  const std::uint64_t since_raw = raw - slope_raw_;
  const std::uint64_t since_ns = ns - slope_ns_;
  const bool is_usable = slope_ns_ != 0 && ns > slope_ns_ && raw > slope_raw_ && since_ns <= kLongestSlope_ns;
  if (is_usable && since_ns < kShortestSlope_ns) return;
  slope_raw_ = raw;
  slope_ns_ = ns;
  const std::uint64_t before = measured_;
  measured_ = is_usable ? (since_ns << kSlopeBits) / since_raw : 0;
  const std::uint64_t off = measured_ > before ? measured_ - before : before - measured_;
  slope_ = measured_ != 0 && off <= before >> 10 ? measured_ : 0;
}

// The latest time that can have been told. A signal handler may have begun a stretch just now, which is not over.
std::uint64_t ScaledTime::latest(std::uint64_t raw) const {
  if (room_ == 0) return floor_;
  const std::uint64_t since = raw - raw_ < room_ ? raw - raw_ : room_;
  const std::uint64_t end = ns_ + (since * slope_ >> kSlopeBits);
  return end > floor_ ? end : floor_;
}

// The fields are written while there is no stretch, and no handler writes them meanwhile.
std::uint64_t ScaledTime::read_both() {
  constexpr std::uint32_t kFewFailures = 16;
  // Where the clock is slow nothing is gained, and not much is to be lost.
  const bool is_hopeless = failures_ > kFewFailures && ++failures_ % kFewFailures != 0;
  if (is_busy_ || is_hopeless || time_source != TimeSource::kCounter) return system_clock_ns(CLOCK_MONOTONIC);
  is_busy_ = true;
  asm volatile("" ::: "memory");
  const std::uint64_t before = read_counter();
  const std::uint64_t end = latest(before);
  __atomic_store_n(&room_, 0, __ATOMIC_RELAXED);
  asm volatile("" ::: "memory");
  const std::uint64_t ns = system_clock_ns(CLOCK_MONOTONIC);
  const std::uint64_t width = read_counter() - before;
  take_slope(before + width / 2, ns);
  const bool is_exact = slope_ != 0 && width < (kWidest_ns << kSlopeBits) / slope_;
  failures_ = is_exact || slope_ == 0 ? 0 : failures_ + 1;
  raw_ = before + width / 2;
  ns_ = ns;
  floor_ = end;
  __atomic_store_n(&version_, version_ + 1, __ATOMIC_RELAXED);
  asm volatile("" ::: "memory");
  if (is_exact) __atomic_store_n(&room_, (kStretch_ns << kSlopeBits) / slope_, __ATOMIC_RELAXED);
  asm volatile("" ::: "memory");
  is_busy_ = false;
  return ns < end ? end : ns;
}

}  // namespace landtrace::arch
