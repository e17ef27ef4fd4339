#include "arch/clock_converter.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "arch/counter_trust.hpp"

namespace landtrace::arch {
namespace {

void expect_follows_monotonic(RawClock clock) {
  ClockConverter converter(clock);
  std::uint64_t last = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t raw = read_raw_clock(clock);
    if (i % 100 == 0) converter.sample();
    const std::uint64_t ns = converter.to_ns(raw);
    ASSERT_GE(ns, last) << "the conversion went backwards at step " << i;
    last = ns;
  }
  const std::uint64_t before = monotonic_ns();
  const std::uint64_t raw = read_raw_clock(clock);
  const std::uint64_t after = monotonic_ns();
  converter.sample();
  const std::uint64_t ns = converter.to_ns(raw);
  constexpr std::uint64_t kTolerance = 5'000;
  EXPECT_GE(ns + kTolerance, before);
  EXPECT_LE(ns, after + kTolerance);
}

#if defined(__x86_64__)
TEST(ClockTest, TheCounterIsTrustedWhereTheKernelCountsByIt) {
  EXPECT_TRUE(is_counter_trusted("tsc\n", "tsc hpet acpi_pm \n"));
  EXPECT_TRUE(is_counter_trusted("tsc\n", ""));
  EXPECT_FALSE(is_counter_trusted("tsc-early\n", "tsc-early hpet acpi_pm \n"));
  EXPECT_FALSE(is_counter_trusted("hpet\n", "hpet acpi_pm \n"));
  EXPECT_FALSE(is_counter_trusted("hpet\n", "tsc hpet acpi_pm \n")) << "somebody does not want it";
  EXPECT_FALSE(is_counter_trusted("", ""));
}

TEST(ClockTest, InAVirtualMachineItIsTrustedIfTheKernelWouldTakeIt) {
  for (const char* const current : {"kvm-clock\n", "hyperv_clocksource_tsc_page\n", "xen\n"}) {
    EXPECT_TRUE(is_counter_trusted(current, "kvm-clock tsc acpi_pm \n")) << current;
    EXPECT_TRUE(is_counter_trusted(current, "tsc\n")) << current;
    EXPECT_FALSE(is_counter_trusted(current, "kvm-clock \n")) << current;
    EXPECT_FALSE(is_counter_trusted(current, "kvm-clock tsc-early \n")) << current;
    EXPECT_FALSE(is_counter_trusted(current, "")) << current;
  }
}
#endif

TEST(ClockTest, ConvertsTheBestClockToMonotonicTime) { expect_follows_monotonic(best_raw_clock()); }

TEST(ClockTest, MonotonicClockNeedsNoConversion) { expect_follows_monotonic(RawClock::kMonotonic); }

TEST(ClockTest, ALongLineIsStraightenedButStaysTrue) {
  const RawClock clock = best_raw_clock();
  ClockConverter converter(clock, {.shortest_ns = 1'000, .stretches = 16});
  std::vector<std::pair<std::uint64_t, std::uint64_t>> moments;
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t raw = read_raw_clock(clock);
    moments.emplace_back(raw, monotonic_ns());
    converter.sample();
  }
  std::uint64_t last = 0;
  int far = 0;
  for (const auto& [raw, ns] : moments) {
    const std::uint64_t converted = converter.to_ns(raw);
    ASSERT_GE(converted, last);
    last = converted;
    if (std::llabs(static_cast<long long>(converted - ns)) > 20'000) ++far;  // a moment may have been interrupted
  }
  EXPECT_LT(far, 100);
}

TEST(ClockTest, ConvertsTimesFromBeforeTheFirstPair) {
  const RawClock clock = best_raw_clock();
  // One of them is read without being interrupted.
  std::uint64_t earlier_ns = 0;
  std::uint64_t earlier = 0;
  for (std::uint64_t i = 0, best = ~0ull; i < 20; ++i) {
    const std::uint64_t before = monotonic_ns();
    const std::uint64_t raw = read_raw_clock(clock);
    if (const std::uint64_t took = monotonic_ns() - before; took < best) {
      best = took;
      earlier_ns = before;
      earlier = raw;
    }
  }
  timespec pause{0, 3'000'000};
  ::nanosleep(&pause, nullptr);
  const ClockConverter converter(clock);
  EXPECT_LT(std::llabs(static_cast<long long>(converter.to_ns(earlier) - earlier_ns)), 20'000);
}

}  // namespace
}  // namespace landtrace::arch
