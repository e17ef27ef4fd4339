// When an event happened, and what of that is held for the events that it makes.
#include <gtest/gtest.h>

#include "arch/scaled_time.hpp"
#include "hist/evaluate.hpp"

namespace landtrace::hist {
namespace {

class MomentTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!arch::rseq_usable()) GTEST_SKIP() << "SKIPPED: no restartable sequences here";
  }
  arch::RseqArea* const area_ = arch::rseq_area();
};

TEST_F(MomentTest, HoldsTheCounterThatTheSystemsClockIsTakenFrom) {
  bool was_scaled = false;
  for (int i = 0; i < 1'000'000 && !was_scaled; ++i) {
    const std::uint64_t before = arch::read_raw_clock(arch::RawClock::kTsc);
    Moment moment(arch::RawClock::kTsc, area_);
    moment.in(CLOCK_MONOTONIC);
    if (moment.held() == 0) continue;
    was_scaled = true;
    EXPECT_LE(before, moment.held());
    EXPECT_LE(moment.held(), arch::read_raw_clock(arch::RawClock::kTsc));
  }
  EXPECT_TRUE(was_scaled || !arch::scaled_time.is_scaled());
  EXPECT_EQ(area_->rseq_cs, 0u);
}

TEST_F(MomentTest, HoldsNothingOfOtherClocksNorOfAThreadWithoutSequences) {
  Moment moment(arch::RawClock::kTsc, area_);
  moment.in(CLOCK_REALTIME);
  EXPECT_EQ(moment.held(), 0u);
  EXPECT_EQ(area_->rseq_cs, 0u);
  moment.in(kRawClock);
  EXPECT_NE(moment.held(), 0u);
  moment.in(CLOCK_REALTIME);
  EXPECT_EQ(moment.held(), 0u) << "its record would have another time than it says";
  Moment portable(arch::RawClock::kTsc);
  EXPECT_NE(portable.in(kRawClock), 0u);
  EXPECT_EQ(portable.held(), 0u);
  Moment by_monotonic(arch::RawClock::kMonotonic, area_);
  EXPECT_NE(by_monotonic.in(kRawClock), 0u);
  EXPECT_EQ(by_monotonic.held(), 0u);
}

}  // namespace
}  // namespace landtrace::hist
