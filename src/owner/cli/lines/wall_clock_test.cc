#include "cli/lines/wall_clock.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace landtrace::cli {
namespace {

constexpr std::int64_t kWallSecond_ns = 1'000'000'000;

TEST(WallClock, SaysTheDayAndTheTimeInMicroseconds) {
  WallClock clock(WallClock::Zone::kUtc, 1'700'000'000 * kWallSecond_ns);
  EXPECT_EQ(clock.text(0), "2023-11-14T22:13:20.000000Z");
  EXPECT_EQ(clock.text(1'499), "2023-11-14T22:13:20.000001Z");
  EXPECT_EQ(clock.text(1'500), "2023-11-14T22:13:20.000002Z");
  EXPECT_EQ(clock.text(999'999'500), "2023-11-14T22:13:21.000000Z");
  EXPECT_EQ(clock.text(3), "2023-11-14T22:13:20.000000Z");  // back again
}

TEST(WallClock, ALocalTimeSaysHowFarItIsFromUtc) {
  ::setenv("TZ", "XYZ-05:30", 1);
  ::tzset();
  EXPECT_EQ(WallClock(WallClock::Zone::kLocal, 1'700'000'000 * kWallSecond_ns).text(0),
            "2023-11-15T03:43:20.000000+05:30");
  ::setenv("TZ", "XYZ3", 1);
  ::tzset();
  EXPECT_EQ(WallClock(WallClock::Zone::kLocal, 1'700'000'000 * kWallSecond_ns).text(0),
            "2023-11-14T19:13:20.000000-03:00");
  ::unsetenv("TZ");
  ::tzset();
}

TEST(WallClock, TheOffsetLeadsFromTheMonotonicClockToNow) {
  timespec monotonic{};
  timespec before{};
  timespec after{};
  ::clock_gettime(CLOCK_REALTIME, &before);
  ::clock_gettime(CLOCK_MONOTONIC, &monotonic);
  const std::int64_t time = monotonic.tv_sec * kWallSecond_ns + monotonic.tv_nsec + WallClock::offset_now();
  ::clock_gettime(CLOCK_REALTIME, &after);
  // NTP may move one of the clocks by some microseconds meanwhile.
  constexpr std::int64_t kSlack = 1'000'000;
  EXPECT_GE(time, before.tv_sec * kWallSecond_ns + before.tv_nsec - kSlack);
  EXPECT_LE(time, after.tv_sec * kWallSecond_ns + after.tv_nsec + kSlack);
}

}  // namespace
}  // namespace landtrace::cli
