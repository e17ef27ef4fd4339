#include "arch/scaled_time.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "arch/clock.hpp"

namespace landtrace::arch {
namespace {

class ScaledTimeTest : public testing::Test {
 protected:
  void SetUp() override {
    if (best_raw_clock() != RawClock::kTsc) GTEST_SKIP() << "SKIPPED: the system's clock is not the counter";
  }

  // Until the counter alone is asked; false where the machine never reads both clocks in so short a time.
  bool becomes_scaled() {
    const std::uint64_t until = monotonic_ns() + 5'000'000'000;
    while (!time_.is_scaled() && monotonic_ns() < until) time_.ns();
    return time_.is_scaled();
  }

  ScaledTime time_;
};

// However long the thread is away between the three readings.
TEST_F(ScaledTimeTest, IsWithin50NanosecondsOfTheSystemsClock) {
  constexpr std::uint64_t kNear_ns = 50;
  if (!becomes_scaled()) GTEST_SKIP() << "SKIPPED: reading the clock takes too long here";
  int scaled = 0;
  for (int i = 0; i < 200'000; ++i) {
    const bool was_scaled = time_.is_scaled();
    const std::uint64_t before = monotonic_ns();
    const std::uint64_t now = time_.ns();
    const std::uint64_t after = monotonic_ns();
    ASSERT_GE(now + kNear_ns, before);
    ASSERT_LE(now, after + kNear_ns);
    if (was_scaled && time_.is_scaled()) ++scaled;
  }
  EXPECT_GT(scaled, 0);
}

TEST_F(ScaledTimeTest, TellsWhatTheCounterWasWhereItAloneWasAsked) {
  std::uint64_t raw = 1;
  time_.ns(raw);
  EXPECT_EQ(raw, 0u) << "there is no stretch yet";
  if (!becomes_scaled()) GTEST_SKIP() << "SKIPPED: reading the clock takes too long here";
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t before = read_counter();
    time_.ns(raw);
    const std::uint64_t after = read_counter();
    ASSERT_TRUE(raw == 0 || (before <= raw && raw <= after));
    if (raw != 0) return;
  }
  FAIL() << "it was never asked alone";
}

TEST_F(ScaledTimeTest, NeverGoesBackwardsInAThread) {
  std::uint64_t last = 0;
  for (int i = 0; i < 300'000; ++i) {
    const std::uint64_t now = time_.ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST_F(ScaledTimeTest, IsTheSystemsClockFromTheFirstCallOn) {
  const std::uint64_t before = monotonic_ns();
  const std::uint64_t now = time_.ns();
  EXPECT_LE(before, now);
  EXPECT_LE(now, monotonic_ns());
}

// A pause in which nobody asked for the time, longer than any stretch.
TEST_F(ScaledTimeTest, IsTrueAfterAPause) {
  if (!becomes_scaled()) GTEST_SKIP() << "SKIPPED: reading the clock takes too long here";
  ::usleep(20'000);
  const std::uint64_t before = monotonic_ns();
  const std::uint64_t now = time_.ns();
  EXPECT_GE(now + 50, before);
  EXPECT_LE(now, monotonic_ns() + 50);
}

ScaledTime* interrupted = nullptr;
int interruptions = 0;
bool is_true_in_handler = true;

// What asks in a signal handler gets a true time, and so does what it has interrupted, at whichever instruction.
TEST_F(ScaledTimeTest, ASignalHandlerMayAskInTheMiddleOfIt) {
  constexpr std::uint64_t kNear_ns = 50;
  becomes_scaled();
  interrupted = &time_;
  struct sigaction action {};
  action.sa_handler = [](int) {
    // Long enough for a stretch to end and another one to begin.
    for (int i = 0; i < 500; ++i) {
      const std::uint64_t before = monotonic_ns();
      const std::uint64_t now = interrupted->ns();
      const std::uint64_t after = monotonic_ns();
      is_true_in_handler = is_true_in_handler && now + kNear_ns >= before && now <= after + kNear_ns;
    }
    ++interruptions;
  };
  struct sigaction old {};
  ASSERT_EQ(::sigaction(SIGALRM, &action, &old), 0);
  timer_t timer{};
  ASSERT_EQ(::timer_create(CLOCK_MONOTONIC, nullptr, &timer), 0);
  const itimerspec often{{0, 150'000}, {0, 150'000}};
  ASSERT_EQ(::timer_settime(timer, 0, &often, nullptr), 0);
  for (int i = 0; interruptions < 50 && i < 100'000'000; ++i) {
    const std::uint64_t before = monotonic_ns();
    const std::uint64_t now = time_.ns();
    const std::uint64_t after = monotonic_ns();
    ASSERT_GE(now + kNear_ns, before);
    ASSERT_LE(now, after + kNear_ns);
  }
  ::timer_delete(timer);
  ::sigaction(SIGALRM, &old, nullptr);
  EXPECT_TRUE(is_true_in_handler);
  EXPECT_GE(interruptions, 50);
}

TEST_F(ScaledTimeTest, AThreadWithoutTheCounterGetsTheSystemsClock) {
#if defined(__x86_64__)
  const pid_t child = ::fork();
  if (child == 0) {
    time_source = TimeSource::kCalls;
    if (::prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0) ::_exit(2);
    const std::uint64_t before = monotonic_ns();
    const std::uint64_t now = time_.ns();
    ::_exit(before <= now && now <= monotonic_ns() && !time_.is_scaled() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
#endif
}

}  // namespace
}  // namespace landtrace::arch
