#include "fleet/period.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace landtrace::fleet {
namespace {

constexpr std::uint32_t kNone = Pick::kNone;

const Period kThree{1000, 1300, 100, false};

std::vector<Pick> picks(std::vector<SeenFrame> frames, std::uint64_t generation = 2000) {
  return picks_of(std::move(frames), generation, kThree);
}

TEST(PeriodTest, ASlotHasItsBeginAndNotItsEnd) {
  EXPECT_EQ(kThree.slots(), 3u);
  EXPECT_EQ(kThree.slot_of(999), 0u);
  EXPECT_EQ(kThree.slot_of(1000), 1u);
  EXPECT_EQ(kThree.slot_of(1099), 1u);
  EXPECT_EQ(kThree.slot_of(1100), 2u);
  EXPECT_EQ(kThree.slot_of(1299), 3u);
  EXPECT_EQ(kThree.slot_of(1300), 4u);
  EXPECT_EQ(kThree.begin_of(3), 1200u);
  EXPECT_EQ(kThree.end_of(3), 1300u);
}

TEST(PeriodTest, TheLastSlotMayBeShorterAndTheOnlyOneIsAll) {
  const Period odd{1000, 1250, 100, false};
  EXPECT_EQ(odd.slots(), 3u);
  EXPECT_EQ(odd.end_of(3), 1250u);
  EXPECT_EQ(odd.slot_of(1250), 4u);
  const Period one{1000, 1250, 0, false};
  EXPECT_EQ(one.slots(), 1u);
  EXPECT_EQ(one.slot_of(1249), 1u);
  EXPECT_EQ(one.slot_of(1250), 2u);
}

TEST(PeriodTest, AnOpenOneTakesWhatComesLater) {
  const Period open{1000, 1300, 100, true};
  EXPECT_EQ(open.slot_of(99999), 3u);
}

TEST(PeriodTest, NonsenseIsRefused) {
  EXPECT_TRUE(kThree.check());
  EXPECT_FALSE((Period{5, 5, 0, false}).check());
  EXPECT_FALSE((Period{0, 1'000'000, 1, false}).check());
  EXPECT_TRUE((Period{0, Period::kMostSlots, 1, false}).check());
}

TEST(PeriodTest, EachFrameIsTakenFromTheNext) {
  EXPECT_EQ(picks({{0, 3, 900}, {1, 6, 1050}, {3, 9, 1250}}),
            (std::vector<Pick>{{3, 900, kNone, 1}, {6, 1050, 1, 3}, {9, 1250, 3, kNone}}));
}

TEST(PeriodTest, TheOrderOfFramesDoesNotMatter) {
  EXPECT_EQ(picks({{3, 9, 1250}, {0, 2, 800}, {1, 6, 1050}, {0, 3, 900}, {1, 6, 1050}}),
            picks({{0, 3, 900}, {1, 6, 1050}, {3, 9, 1250}}));
}

TEST(PeriodTest, WhatIsBehindThePeriodIsPassedOver) {
  EXPECT_EQ(picks({{1, 6, 1050}, {4, 9, 1350}}), (std::vector<Pick>{{6, 1050, 1, kNone}}));
}

TEST(PeriodTest, NothingWasCountedWhereNothingIsNew) { EXPECT_TRUE(picks({{0, 3, 900}}).empty()); }

TEST(PeriodTest, WhatBeganBeforeAndIsNotKnownFromThenIsUnclear) {
  Pick unclear{6, 1050, kNone, 3};
  unclear.is_unclear = true;
  EXPECT_EQ(picks({{1, 6, 1050}, {3, 9, 1250}}, 500), (std::vector<Pick>{unclear, {9, 1250, 3, kNone}}));
  // The first frame has no older counts than those of its interval.
  EXPECT_EQ(picks({{1, 1, 1050}}, 500), (std::vector<Pick>{{1, 1050, 1, kNone}}));
}

// A clock that is set back: the frame with the higher sequence has all that the other one has.
TEST(PeriodTest, CountsNeverBecomeLess) {
  EXPECT_EQ(picks({{1, 9, 1050}, {2, 7, 1150}, {3, 12, 1250}}),
            (std::vector<Pick>{{9, 1050, 1, 3}, {12, 1250, 3, kNone}}));
}

// Whatever is lost, all slots together are what the last frame has more than the last one before.
TEST(PeriodTest, SlotsAddUpWhateverIsLost) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::map<std::uint64_t, std::int64_t> counted;  // by sequence
    std::vector<SeenFrame> frames;
    std::int64_t count = 0, before = 0, last = 0;
    for (std::uint64_t sequence = 1; sequence <= 40; ++sequence) {
      counted[sequence] = count += random() % 10;
      const std::uint64_t time = 900 + 11 * sequence;
      if (random() % 3 == 0 || time >= 1300) continue;
      (time < 1000 ? before : last) = count;
      frames.push_back({kThree.slot_of(time), sequence, time});
    }
    std::shuffle(frames.begin(), frames.end(), random);
    std::int64_t sum = 0;
    for (const Pick& pick : picks(frames)) {
      if (pick.plus != kNone) sum += counted[pick.sequence];
      if (pick.minus != kNone) sum -= counted[pick.sequence];
    }
    ASSERT_EQ(sum, last == 0 ? 0 : last - before);
  }
}

}  // namespace
}  // namespace landtrace::fleet
