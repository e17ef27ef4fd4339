#include "buffer/stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "buffer/test_ring.hpp"

namespace landtrace::buffer {
namespace {

using ::testing::ElementsAre;

class StreamTest : public ::testing::Test {
 protected:
  StreamTest() {
    for (std::uint32_t user = 0; user < 3; ++user) {
      stream_.add(rings_[user].data(), rings_[user].geometry(), user, arch::RawClock::kMonotonic, 0u);
    }
  }
  std::vector<std::uint32_t> drain(std::uint64_t horizon = kNoHorizon, int reads = 100) {
    std::vector<std::uint32_t> numbers;
    more_ = stream_.drain(horizon, reads, [&](RingCursor& cursor) { numbers.push_back(number_of(cursor.record())); });
    return numbers;
  }

  TestRing rings_[3];
  Stream stream_;
  bool more_ = false;
};

TEST_F(StreamTest, NothingThere) {
  EXPECT_THAT(drain(), ElementsAre());
  EXPECT_FALSE(more_);
}

TEST_F(StreamTest, UsersAreMergedByTime) {
  rings_[0].write_at(10, 1);
  rings_[0].write_at(40, 4);
  rings_[1].write_at(20, 2);
  rings_[1].write_at(50, 5);
  rings_[2].write_at(30, 3);
  EXPECT_THAT(drain(), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_FALSE(more_);
}

TEST_F(StreamTest, NewerThanTheHorizonWaits) {
  rings_[0].write_at(10, 1);
  rings_[0].write_at(30, 3);
  rings_[1].write_at(40, 4);
  EXPECT_THAT(drain(25), ElementsAre(1));
  EXPECT_FALSE(more_) << "not at once";
  rings_[1].write_at(50, 5);
  rings_[2].write_at(20, 2);
  EXPECT_THAT(drain(100), ElementsAre(2, 3, 4, 5));
}

// The first record of a ring may come while another one is read.
TEST_F(StreamTest, NewerThanTheHorizonWaitsAlsoWhereOneRingAloneIsUsed) {
  rings_[1].write_at(10, 1);
  rings_[1].write_at(30, 3);
  EXPECT_THAT(drain(15), ElementsAre(1));
  rings_[0].write_at(20, 2);
  EXPECT_THAT(drain(40), ElementsAre(2, 3));
}

// A writer that has read the clock, and was interrupted before it could commit.
TEST_F(StreamTest, WhatIsBeingWrittenMayBeOlderThanWhatIsThere) {
  constexpr std::uint64_t kLong = 1ull << 32;
  rings_[0].write_at(10, 1);
  rings_[1].write_at(20, 2);
  EXPECT_THAT(drain(30), ElementsAre(1, 2));
  EXPECT_EQ(stream_.settled(), 30u);
  rings_[1].words().claim = 4711;
  rings_[0].write_at(50, 5);
  EXPECT_THAT(drain(60), ElementsAre());
  EXPECT_EQ(stream_.settled(), 30u);
  rings_[1].words().claim = 0;
  rings_[1].write_at(40, 4);
  EXPECT_THAT(drain(70), ElementsAre(4, 5));
  // One that never comes back.
  rings_[1].words().claim = 4711;
  rings_[0].write_at(80, 8);
  EXPECT_THAT(drain(90), ElementsAre());
  EXPECT_THAT(drain(kLong), ElementsAre(8));
}

// What a ring still holds unread may be older than what the others have at hand.
TEST_F(StreamTest, RingThatMayNotBeReadOnHoldsUpTheOthers) {
  std::uint32_t number = 0;
  std::uint64_t clock = 1;
  while (rings_[0].words().commit.position < rings_[0].geometry().size() / 2) rings_[0].write_at(clock++, number++);
  EXPECT_FALSE(drain(kNoHorizon, 1).empty());
  while (rings_[0].words().commit.position < rings_[0].geometry().size()) rings_[0].write_at(clock++, number++);
  rings_[0].consume_up_to(rings_[0].geometry().size());
  for (int i = 0; i < 100; ++i) rings_[0].write_at(clock++, number++);  // the next lap: another read
  rings_[1].write_at(clock, 1'000'000);
  const auto first = drain(kNoHorizon, 1);
  EXPECT_TRUE(more_);
  EXPECT_NE(first.back(), 1'000'000u);
  std::vector<std::uint32_t> last;
  for (int i = 0; i < 5 && more_; ++i) {
    const auto numbers = drain(kNoHorizon, 1);
    last.insert(last.end(), numbers.begin(), numbers.end());
  }
  ASSERT_FALSE(last.empty());
  EXPECT_EQ(last.back(), 1'000'000u);
  EXPECT_TRUE(std::is_sorted(last.begin(), last.end()));
}

}  // namespace
}  // namespace landtrace::buffer
