#include "plan/cells.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace landtrace::plan {
namespace {

TEST(CellsTest, AFreshSwitchIsNotThrown) {
  const Cell cell{};
  EXPECT_FALSE(is_thrown(cell));
}

TEST(CellsTest, OfTwoThrowsTheNewestCountsInWhateverOrderTheyCome) {
  Cell cell{};
  throw_switch(cell, throw_word(true, 20));
  throw_switch(cell, throw_word(false, 10));
  EXPECT_TRUE(is_thrown(cell));
  EXPECT_EQ(cell.own, throw_word(true, 20));
  throw_switch(cell, throw_word(false, 30));
  EXPECT_FALSE(is_thrown(cell));
}

TEST(CellsTest, TheSameThrowTwiceChangesNothing) {
  Cell cell{};
  throw_switch(cell, throw_word(true, 20));
  throw_switch(cell, throw_word(true, 20));
  EXPECT_EQ(cell.own, throw_word(true, 20));
}

TEST(CellsTest, AThrowNowIsLaterThanWhatItFinds) {
  Cell cell{};
  throw_now(cell, true, 1000);
  EXPECT_EQ(cell.own, throw_word(true, 1000));
  throw_now(cell, false, 999);  // by a clock that is behind
  EXPECT_EQ(cell.own, throw_word(false, 1001));
  throw_now(cell, true, 1001);
  EXPECT_EQ(cell.own, throw_word(true, 1002));
  throw_now(cell, true, 5000);
  EXPECT_EQ(cell.own, throw_word(true, 5000));
}

TEST(CellsTest, ACounterIsWhatItsUserAndAllOthersCounted) {
  Cell cell{.own = 0, .others = 5};
  count(cell);
  count(cell);
  EXPECT_EQ(cell.own, 2u);
  EXPECT_EQ(counted(cell), 7u);
}

TEST(CellsTest, ALimitHoldsForAllUsersTogether) {
  Cell cell{.own = 0, .others = 3};
  EXPECT_TRUE(count_up_to(cell, 5));
  EXPECT_TRUE(count_up_to(cell, 5));
  EXPECT_FALSE(count_up_to(cell, 5));
  EXPECT_EQ(cell.own, 2u);
  EXPECT_FALSE(count_up_to(cell, 0));
}

TEST(CellsTest, ThreadsAtOnceNeverCountBeyondTheLimit) {
  constexpr std::uint64_t kLimit = 10'000;
  Cell cell{};
  std::atomic<std::uint64_t> successes = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (std::uint64_t n = 0; n < kLimit; ++n) successes += count_up_to(cell, kLimit) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(successes, kLimit);
  EXPECT_EQ(cell.own, kLimit);
}

}  // namespace
}  // namespace landtrace::plan
