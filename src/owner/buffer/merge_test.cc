#include "buffer/merge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "buffer/test_ring.hpp"

namespace landtrace::buffer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MergeTest : public ::testing::Test {
 protected:
  MergeTest() {
    for (std::uint32_t cpu = 0; cpu < 2; ++cpu) merge_.add({&cursors_[cpu], cpu});
  }
  std::vector<std::uint32_t> take(std::uint64_t horizon) {
    std::vector<std::uint32_t> numbers;
    merge_.begin(horizon);
    while (const Merge::Source* const source = merge_.next()) {
      numbers.push_back(number_of(source->cursor->record()));
      source->cursor->pop();
    }
    return numbers;
  }

  TestRing rings_[2];
  RingCursor cursors_[2] = {{rings_[0].data(), rings_[0].geometry(), 0, arch::RawClock::kMonotonic, 0},
                            {rings_[1].data(), rings_[1].geometry(), 0, arch::RawClock::kMonotonic, 0}};
  Merge merge_;
};

TEST_F(MergeTest, TheOldestComesFirstAndWhatIsNewerThanTheHorizonWaits) {
  rings_[0].write_at(10, 1);
  rings_[1].write_at(20, 2);
  rings_[0].write_at(30, 3);
  EXPECT_THAT(take(25), ElementsAre(1, 2));
  EXPECT_THAT(take(35), ElementsAre(3));
}

// The first record of a ring may come while another one is read.
TEST_F(MergeTest, WhatIsNewerThanTheHorizonWaitsAlsoWhereOneRingAloneIsUsed) {
  rings_[1].write_at(10, 1);
  rings_[1].write_at(30, 3);
  EXPECT_THAT(take(15), ElementsAre(1));
  rings_[0].write_at(20, 2);
  EXPECT_THAT(take(40), ElementsAre(2, 3));
}

TEST_F(MergeTest, WhatIsBeingWrittenMayBeOlderThanWhatIsThere) {
  rings_[0].write_at(10, 1);
  rings_[1].write_at(20, 2);
  EXPECT_THAT(take(30), ElementsAre(1, 2));
  rings_[1].words().claim = 4711;
  rings_[0].write_at(50, 5);
  EXPECT_THAT(take(60), IsEmpty());
  rings_[1].words().claim = 0;
  rings_[1].write_at(40, 4);
  EXPECT_THAT(take(70), ElementsAre(4, 5));
}

TEST_F(MergeTest, AWriterThatNeverComesBackHoldsUpNobodyForLong) {
  rings_[0].write_at(10, 1);
  rings_[1].write_at(20, 2);
  EXPECT_THAT(take(30), ElementsAre(1, 2));
  rings_[1].words().claim = 4711;
  rings_[0].write_at(50, 5);
  EXPECT_THAT(take(60), IsEmpty());
  EXPECT_THAT(take(1ull << 32), ElementsAre(5));
}

}  // namespace
}  // namespace landtrace::buffer
