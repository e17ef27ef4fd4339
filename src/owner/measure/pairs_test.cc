#include "measure/pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace landtrace::measure {
namespace {

using ipc::KeyKind;

class PairsTest : public testing::Test {
 protected:
  static std::vector<ipc::HistogramKeyValue> route(const std::string& text) { return {{0, text, {}}}; }

  // What it says of the times of a group from `first` on.
  static ipc::HistogramRow row(const Pairs& pairs, const std::string& group, std::uint64_t first) {
    const auto table = pairs.table({{KeyKind::kText, "route", 0}}, "ns");
    const auto found = std::ranges::find_if(table.rows, [&](const ipc::HistogramRow& row) {
      return row.keys.at(0).text == group && row.keys.at(1).number == first;
    });
    return found == table.rows.end() ? ipc::HistogramRow() : *found;
  }

  Pairs pairs_{Pairs::Limits()};
};

TEST_F(PairsTest, AnEndTakesTheStartOfItsKey) {
  pairs_.start("1", 100);
  pairs_.start("2", 200);
  pairs_.end("2", 210, route("/"));
  pairs_.end("1", 1140, route("/"));  // 1040: a step of 32 begins with 1024
  EXPECT_EQ(pairs_.table({}, "ns").hits, 2u);
  EXPECT_EQ(row(pairs_, "/", 10).values, std::vector<std::uint64_t>{10});
  EXPECT_EQ(row(pairs_, "/", 1024).values, std::vector<std::uint64_t>{1040});
  EXPECT_EQ(pairs_.starts_without_end(), 0u);
  EXPECT_EQ(pairs_.ends_without_start(), 0u);
}

TEST_F(PairsTest, NoTimeAtAllIsATimeToo) {
  pairs_.start("1", 100);
  pairs_.end("1", 100, route("/"));
  EXPECT_EQ(row(pairs_, "/", 0).hits, 1u);
}

TEST_F(PairsTest, GroupsAreCountedApart) {
  for (const char* group : {"/a", "/b", "/a"}) {
    pairs_.start("1", 0);
    pairs_.end("1", 3, route(group));
  }
  EXPECT_EQ(row(pairs_, "/a", 3).hits, 2u);
  EXPECT_EQ(row(pairs_, "/a", 3).values.at(0), 6u);
  EXPECT_EQ(row(pairs_, "/b", 3).hits, 1u);
}

TEST_F(PairsTest, AStartIsUsedOnce) {
  pairs_.start("1", 100);
  pairs_.end("1", 200, route("/"));
  pairs_.end("1", 300, route("/"));
  EXPECT_EQ(pairs_.table({}, "ns").hits, 1u);
  EXPECT_EQ(pairs_.ends_without_start(), 1u);
}

TEST_F(PairsTest, OfSeveralStartsTheLastOneCounts) {
  pairs_.start("1", 100);
  pairs_.start("1", 200);
  pairs_.end("1", 203, route("/"));
  EXPECT_EQ(row(pairs_, "/", 3).values.at(0), 3u);
  EXPECT_EQ(pairs_.starts_without_end(), 1u);
}

TEST_F(PairsTest, StartsThatWaitHaveNoEndYet) {
  pairs_.start("1", 100);
  EXPECT_EQ(pairs_.starts_without_end(), 1u);
  pairs_.end("1", 200, route("/"));
  EXPECT_EQ(pairs_.starts_without_end(), 0u);
}

TEST_F(PairsTest, TheOldestIsGivenUpWhereTooManyWait) {
  Pairs pairs({.rows = 10, .waiting = 2});
  pairs.start("1", 1);
  pairs.start("2", 2);
  pairs.start("1", 3);  // is the younger one now
  pairs.start("3", 4);
  pairs.end("2", 5, route("/"));
  EXPECT_EQ(pairs.ends_without_start(), 1u);
  pairs.end("1", 6, route("/"));
  pairs.end("3", 7, route("/"));
  EXPECT_EQ(pairs.table({}, "ns").hits, 2u);
  EXPECT_EQ(pairs.starts_without_end(), 2u);
}

TEST_F(PairsTest, TheStepsOfAPowerOfTwoTakeNoRoomFromGroups) {
  Pairs pairs({.rows = 1, .waiting = 10});
  for (const std::uint64_t ns : {64, 65, 127, 128}) {
    pairs.start("1", 0);
    pairs.end("1", ns, route("/"));
  }
  const auto table = pairs.table({{KeyKind::kText, "route", 0}}, "ns");
  EXPECT_EQ(table.keys.at(1), (ipc::HistogramKey{KeyKind::kSteps, "ns", Pairs::kSteps}));
  EXPECT_EQ(table.rows.size(), 2u) << "64 and 65 are one step";
  EXPECT_EQ(table.hits, 3u);
  EXPECT_EQ(table.dropped, 1u);
}

TEST_F(PairsTest, WhatFindsNoRoomInTheTableIsCounted) {
  Pairs pairs({.rows = 1, .waiting = 10});
  for (const char* group : {"/a", "/b", "/a"}) {
    pairs.start("1", 0);
    pairs.end("1", 3, route(group));
  }
  const auto table = pairs.table({{KeyKind::kText, "route", 0}}, "ns");
  EXPECT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.hits, 2u);
  EXPECT_EQ(table.dropped, 1u);
}

}  // namespace
}  // namespace landtrace::measure
