#include "buffer/trace_clock.hpp"

#include <gtest/gtest.h>

namespace landtrace::buffer {
namespace {

std::uint64_t now_of(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

class TraceClockTest : public ::testing::Test {
 protected:
  arch::ClockLine line_{arch::best_raw_clock(), CLOCK_MONOTONIC};
  TraceClock clock_{line_};
};

TEST_F(TraceClockTest, NamesAreTheKernels) {
  EXPECT_EQ(clock_.text(), "[local] global counter uptime perf mono mono_raw boot tai x86-tsc\n");
  ASSERT_TRUE(clock_.select("boot"));
  EXPECT_EQ(clock_.text(), "local global counter uptime perf mono mono_raw [boot] tai x86-tsc\n");
  EXPECT_EQ(clock_.select("bo").error().code, EINVAL);
  EXPECT_EQ(clock_.name(), "boot");
}

TEST_F(TraceClockTest, ClocksShowWhatTheSystemsClocksSay) {
  const std::pair<const char*, clockid_t> kClocks[] = {{"local", CLOCK_MONOTONIC},
                                                       {"mono", CLOCK_MONOTONIC},
                                                       {"mono_raw", CLOCK_MONOTONIC_RAW},
                                                       {"boot", CLOCK_BOOTTIME},
                                                       {"tai", CLOCK_TAI}};
  for (const auto& [name, id] : kClocks) {
    ASSERT_TRUE(clock_.select(name));
    EXPECT_TRUE(clock_.in_ns());
    const std::uint64_t before = now_of(id);
    const std::uint64_t raw = arch::read_raw_clock(line_.raw_clock());
    const std::uint64_t after = now_of(id);
    clock_.sample();
    constexpr std::uint64_t kTolerance = 50'000;
    EXPECT_GE(clock_.shown(raw) + kTolerance, before) << name;
    EXPECT_LE(clock_.shown(raw), after + kTolerance) << name;
  }
}

TEST_F(TraceClockTest, ClocksThatCount) {
  ASSERT_TRUE(clock_.select("x86-tsc"));
  EXPECT_FALSE(clock_.in_ns());
  EXPECT_EQ(clock_.shown(4711), 4711u);
  ASSERT_TRUE(clock_.select("uptime"));
  EXPECT_FALSE(clock_.in_ns());
  line_.sample();
  EXPECT_NEAR(static_cast<double>(clock_.now()), static_cast<double>(now_of(CLOCK_MONOTONIC)) / 1e7, 100);
}

}  // namespace
}  // namespace landtrace::buffer
