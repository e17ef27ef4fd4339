#include "cli/rates/rate_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace landtrace::cli {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kTwoSeconds_ns = 2'000'000'000;

class RateTableTest : public testing::Test {
 protected:
  RateTableTest() {
    before_.by_event = {{"u:a", {1000, 8000}}, {"u:b", {10, 10}}};
    before_.all = {1010, 8010};
    before_.lost = 4;
    now_ = before_;
    now_.by_event["u:a"] = {3000, 24000};
    now_.by_event["u:b"] = {5010, 1010};
    now_.by_event["u:New"] = {0, 0};
    now_.by_program["app (7)"] = {8010, 25010};
    now_.all = {8010, 25010};
    now_.lost = 10;
  }
  std::string text(std::size_t columns = 80) { return RateTable(before_, now_, kTwoSeconds_ns, view_).text(columns); }
  std::vector<std::string> names() {
    std::vector<std::string> found;
    const std::string all = text();
    for (std::size_t at = all.find("u:"); at != all.npos; at = all.find("u:", at + 1)) {
      found.push_back(all.substr(at, all.find('\n', at) - at));
    }
    return found;
  }

  RateTotals before_, now_;
  RateView view_;
};

TEST_F(RateTableTest, RatesAreOfTheIntervalAndCountsOfAll) {
  EXPECT_EQ(text(),
            "3,500 events/s  8.3 KiB/s  10 lost (3/s)\n"
            "PER SECOND        COUNT    BYTES/s  EVENT\n"
            "     2,500        5,010      500 B  u:b\n"
            "     1,000        3,000    7.8 KiB  u:a\n"
            "         0            0        0 B  u:New\n");
}

TEST_F(RateTableTest, SortedByAnyColumn) {
  EXPECT_THAT(names(), testing::ElementsAre("u:b", "u:a", "u:New"));
  view_.sort = *RateView::parse_sort("bytes");
  EXPECT_THAT(names(), testing::ElementsAre("u:a", "u:b", "u:New"));
  view_.sort = *RateView::parse_sort("name");
  EXPECT_THAT(names(), testing::ElementsAre("u:New", "u:a", "u:b"));
  now_.by_event["u:a"].events = 5011;
  view_.sort = *RateView::parse_sort("count");
  EXPECT_THAT(names(), testing::ElementsAre("u:a", "u:b", "u:New"));
  EXPECT_FALSE(RateView::parse_sort("x"));
  EXPECT_FALSE(RateView::parse_by("x"));
}

TEST_F(RateTableTest, ChosenByAPartOfTheName) {
  view_.match = "NEW";
  EXPECT_THAT(names(), testing::ElementsAre("u:New"));
  view_.match = "nothing";
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(RateTableTest, OnlySoManyRows) {
  view_.rows = 1;
  EXPECT_THAT(names(), testing::ElementsAre("u:b"));
  EXPECT_THAT(text(), HasSubstr("… and 2 more\n"));
}

TEST_F(RateTableTest, ProgramsInsteadOfEvents) {
  view_.by = *RateView::parse_by("programs");
  EXPECT_THAT(text(), HasSubstr("     4,005        8,010   12.2 KiB  app (7)\n"));
}

TEST_F(RateTableTest, ASmallTerminalHasTheRateAndTheName) {
  for (const std::size_t columns : {30, 45, 60}) {
    std::string all = text(columns);
    while (!all.empty()) {
      const std::string line = all.substr(0, all.find('\n'));
      EXPECT_LE(width_of(line), columns) << line;
      all.erase(0, line.size() + 1);
    }
  }
  EXPECT_THAT(text(30), HasSubstr("     2,500  u:b\n"));
}

TEST_F(RateTableTest, WhatIsLostIsSeenOnASmallTerminal) {
  const auto head = [&](std::size_t columns) { return text(columns).substr(0, text(columns).find('\n')); };
  EXPECT_EQ(head(40), "3,500 events/s  8.3 KiB/s  10 lost (3/s)");
  EXPECT_EQ(head(39), "3,500 events/s  10 lost (3/s)");
  EXPECT_EQ(head(29), "3,500 events/s  10 lost (3/s)");
}

TEST_F(RateTableTest, JsonHasNumbers) {
  now_.by_event = {{"u:a", {3000, 24000}}};
  EXPECT_EQ(RateTable(before_, now_, kTwoSeconds_ns, view_).json(),
            "{\"seconds\":2.0,\"events\":7000,\"bytes\":17000,\"lost\":6,\"by_event\":"
            "[{\"name\":\"u:a\",\"events\":2000,\"bytes\":16000,\"count\":3000}]}\n");
}

TEST_F(RateTableTest, NamesMoveNoCursor) {
  now_.by_event = {{"u:\x1b[2J", {1, 1}}};
  EXPECT_THAT(text(), HasSubstr("u:\\x1b[2J\n"));
}

}  // namespace
}  // namespace landtrace::cli
