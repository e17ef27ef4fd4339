#include "fleet/host_time.hpp"

#include <gtest/gtest.h>

namespace landtrace::fleet {
namespace {

constexpr std::uint64_t kOneSecond_ns = 1'000'000'000;

TEST(HostTimeTest, WhoHasTakenItsShareWaitsUntilThatIsMadeUpFor) {
  HostTime time;
  std::uint64_t now_ns = 100 * kOneSecond_ns;
  EXPECT_TRUE(time.has_some("a", now_ns));
  time.take("a", 4 * kOneSecond_ns, now_ns);
  EXPECT_TRUE(time.has_some("a", now_ns)) << "it had saved up five";
  time.take("a", 2 * kOneSecond_ns, now_ns);
  EXPECT_FALSE(time.has_some("a", now_ns));
  EXPECT_TRUE(time.has_some("b", now_ns));
  EXPECT_FALSE(time.has_some("a", now_ns + 4 * kOneSecond_ns));
  EXPECT_TRUE(time.has_some("a", now_ns + 4 * kOneSecond_ns + 1)) << "a quarter of these is one second";
}

TEST(HostTimeTest, OverLongItHasAQuarter) {
  HostTime time;
  constexpr std::uint64_t kEach_ns = kOneSecond_ns / 100;
  std::uint64_t taken_ns = 0;
  for (std::uint64_t now_ns = kOneSecond_ns; now_ns < 1001 * kOneSecond_ns; now_ns += kEach_ns) {
    if (!time.has_some("a", now_ns)) continue;
    time.take("a", kEach_ns, now_ns);
    taken_ns += kEach_ns;
  }
  EXPECT_GE(taken_ns, 250 * kOneSecond_ns);
  EXPECT_LE(taken_ns, 250 * kOneSecond_ns + HostTime::kMostSaved_ns + kEach_ns);
}

}  // namespace
}  // namespace landtrace::fleet
