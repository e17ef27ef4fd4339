#include "fleet/clock_offset.hpp"

#include <gtest/gtest.h>

namespace landtrace::fleet {
namespace {

// A question at `asked` here, whose clock is behind by `ahead`, with these times on the way.
RoundTrip trip(std::uint64_t asked, std::uint64_t ahead, std::uint64_t there, std::uint64_t stayed,
               std::uint64_t back) {
  const std::uint64_t heard = asked + there + ahead;
  return {asked, heard, heard + stayed, asked + there + stayed + back};
}

TEST(ClockOffsetTest, WaysOfTheSameLengthGiveItExactly) {
  EXPECT_EQ(best_of({trip(1000, 5'000'000, 200, 70, 200)}), (ClockOffset{5'000'000, 200}));
  const RoundTrip behind{5'000'000, 1200, 1300, 5'000'500};
  EXPECT_EQ(best_of({behind}), (ClockOffset{-4'999'000, 200}));
}

TEST(ClockOffsetTest, TheTruthIsWithinTheBoundWhateverEachWayTakes) {
  for (const std::uint64_t there : {0u, 1u, 33u, 1000u}) {
    for (const std::uint64_t back : {0u, 2u, 77u, 5000u}) {
      const auto offset = best_of({trip(1'000'000, 123'456, there, 10, back)});
      ASSERT_TRUE(offset);
      EXPECT_LE(offset->offset_ns - static_cast<std::int64_t>(offset->bound_ns), 123'456) << there << " " << back;
      EXPECT_GE(offset->offset_ns + static_cast<std::int64_t>(offset->bound_ns), 123'456) << there << " " << back;
      EXPECT_EQ(offset->bound_ns, (there + back + 1) / 2);
    }
  }
}

TEST(ClockOffsetTest, TheShortestCounts) {
  EXPECT_EQ(best_of({trip(0, 900, 500, 0, 3000), trip(9000, 900, 20, 100, 20), trip(20000, 900, 400, 0, 10)}),
            (ClockOffset{900, 20}));
}

TEST(ClockOffsetTest, WhatMakesNoSenseDoesNotCount) {
  EXPECT_EQ(best_of({}), std::nullopt);
  EXPECT_EQ(best_of({{10, 0, 0, 5}}), std::nullopt) << "back before it went";
  EXPECT_EQ(best_of({{10, 30, 20, 50}}), std::nullopt) << "answered before it was heard";
  EXPECT_EQ(best_of({{10, 20, 90, 50}}), std::nullopt) << "longer there than it was away";
  EXPECT_EQ(best_of({{10, ~0ull, ~0ull, 50}}), std::nullopt);
}

TEST(ClockOffsetTest, AnAnswerIsReadBack) {
  const auto read = round_trip(5, clock_answer(77, 78), 9);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->asked_ns, 5u);
  EXPECT_EQ(read->heard_ns, 77u);
  EXPECT_EQ(read->answered_ns, 78u);
  EXPECT_EQ(read->came_ns, 9u);
  for (const char* const garbage : {"", "1", "1 ", " 1", "1  2", "a b", "1 2x", "-1 2", "99999999999999999999 1"}) {
    EXPECT_EQ(round_trip(5, garbage, 9).error().code, EBADMSG) << garbage;
  }
}

}  // namespace
}  // namespace landtrace::fleet
