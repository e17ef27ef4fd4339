#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli/histogram/view.hpp"

namespace landtrace::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kByRoute =
    "# event histogram\n"
    "#\n"
    "# trigger info: hist:keys=route,took_ns.log2:vals=hitcount,took_ns:sort=hitcount:size=2048 [active]\n"
    "#\n"
    "\n"
    "{ route: /b                                                , took_ns: ~ 2^3  } hitcount:          1  took_ns:     "
    "     8\n"
    "{ route: /a                                                , took_ns: ~ 2^10 } hitcount:          1  took_ns:     "
    "  1000\n"
    "{ route: /a                                                , took_ns: ~ 2^8  } hitcount:          3  took_ns:     "
    "   600\n"
    "\n"
    "Totals:\n"
    "    Hits: 5\n"
    "    Entries: 3\n"
    "    Dropped: 2\n";

const HistShape kShape{"done", {"route"}, {}, "took_ns", true};

HistView view_of(const std::string& text, const HistShape& shape) {
  std::vector<std::string> keys = shape.keys;
  if (shape.spread) keys.push_back(*shape.spread);
  const auto table = parse_hist(text, keys);
  EXPECT_TRUE(table);
  const auto view = make_view(shape, *table);
  EXPECT_TRUE(view);
  return *view;
}

TEST(HistText, RowsAndTotals) {
  const auto table = parse_hist(kByRoute, {"route", "took_ns"});
  ASSERT_TRUE(table);
  ASSERT_THAT(table->rows, SizeIs(3));
  EXPECT_THAT(table->rows[1].keys, ElementsAre("/a", "~ 2^10"));
  EXPECT_THAT(table->rows[1].values, ElementsAre(1, 1000));
  EXPECT_EQ(table->hits, 5u);
  EXPECT_EQ(table->dropped, 2u);
}

TEST(HistText, ATextMayHoldWhatRowsAreMadeOf) {
  const auto table = parse_hist("{ a: x, n: 1 } hitcount: 7, n:          3 } hitcount:          2\n", {"a", "n"});
  ASSERT_TRUE(table);
  ASSERT_THAT(table->rows, SizeIs(1));
  EXPECT_THAT(table->rows[0].keys, ElementsAre("x, n: 1 } hitcount: 7", "3"));
  EXPECT_THAT(table->rows[0].values, ElementsAre(2));
}

TEST(HistText, AStackHasALineForEachFrame) {
  const auto table =
      parse_hist("{ common_stacktrace:\n         f+0x1 [p]\n         main+0x2 [p]\n} hitcount:          4\n",
                 {"common_stacktrace"});
  ASSERT_TRUE(table);
  ASSERT_THAT(table->rows, SizeIs(1));
  EXPECT_EQ(table->rows[0].keys[0], "f+0x1 [p]\n         main+0x2 [p]");
  EXPECT_THAT(table->rows[0].values, ElementsAre(4));
}

TEST(HistText, NothingYetIsAnEmptyTable) {
  const auto table = parse_hist("", {"a"});
  ASSERT_TRUE(table);
  EXPECT_TRUE(table->rows.empty());
}

TEST(HistText, OtherRowsAreRefused) {
  EXPECT_FALSE(parse_hist("{ b: 1 } hitcount: 1\n", {"a"}));
  EXPECT_FALSE(parse_hist("{ a: 1 } hitcount: x\n", {"a"}));
  EXPECT_FALSE(parse_hist("{ a: 1\n", {"a"}));
  EXPECT_FALSE(power_of("~ 2^65"));
  EXPECT_FALSE(power_of("7"));
}

TEST(DistributionTest, PercentilesAreExactToABucketAndEvenWithin) {
  Distribution spread;
  spread.add(0, 10, 5);
  spread.add(3, 80, 500);
  spread.add(10, 10, 9000);
  EXPECT_EQ(spread.count(), 100u);
  EXPECT_DOUBLE_EQ(spread.mean(), 95.05);
  EXPECT_DOUBLE_EQ(spread.percentile(0.05), 0.5);
  EXPECT_DOUBLE_EQ(spread.percentile(0.5), 5 + 3 * 0.5);
  EXPECT_DOUBLE_EQ(spread.percentile(1), 1024);
  EXPECT_DOUBLE_EQ(Distribution().percentile(0.5), 0);
}

TEST(HistViewTest, GroupsWithMoreEventsComeFirst) {
  const HistView view = view_of(kByRoute, kShape);
  ASSERT_THAT(view.groups, SizeIs(2));
  EXPECT_THAT(view.groups[0].keys, ElementsAre("/a"));
  EXPECT_EQ(view.groups[0].count, 4u);
  EXPECT_DOUBLE_EQ(view.groups[0].spread.mean(), 400);
}

TEST(HistViewTest, AChartHasALineForEachPowerOfTwo) {
  EXPECT_EQ(chart_text(kShape, view_of(kByRoute, kShape)),
            "done: 5 events\n"
            "route=/a: 4 events, mean 400 ns, p50 214 ns, p90 820 ns, p99 1.0 us\n"
            "      129 ns .. 256 ns                3 ########################################\n"
            "      257 ns .. 512 ns                0 \n"
            "      513 ns .. 1.0 us                1 #############\n"
            "route=/b: 1 event, mean 8 ns, p50 6.5 ns, p90 7.7 ns, p99 8.0 ns\n"
            "        5 ns .. 8 ns                  1 ########################################\n"
            "2 events found no room in the table: a larger --size keeps more\n");
}

TEST(HistViewTest, WithoutASpreadARowIsALine) {
  const HistShape shape{"done", {"id"}, {"bytes"}, {}, false};
  const HistView view = view_of(
      "{ id:          3 } hitcount:          1  bytes:       10\n{ id:         12 } hitcount:          3  bytes:      "
      "120\n"
      "Totals:\n    Hits: 4\n",
      shape);
  EXPECT_EQ(chart_text(shape, view),
            "done: 4 events\n"
            "id=12            3  75.0%  bytes 120 (mean 40.0) ########################################\n"
            "id=3             1  25.0%  bytes 10 (mean 10.0) #############\n");
}

TEST(HistViewTest, JsonIsOneLine) {
  const std::string json = json_text(kShape, view_of(kByRoute, kShape));
  EXPECT_EQ(json.find('\n'), json.size() - 1);
  EXPECT_THAT(json, HasSubstr(R"("key":{"route":"/a"},"count":4,"took_ns":{"mean":400.0,)"));
  EXPECT_THAT(json, HasSubstr(R"({"from":129,"to":256,"count":3})"));
  EXPECT_THAT(json_text(kShape, {}), HasSubstr(R"("groups":[])"));
  HistView foreign;
  foreign.groups.push_back({{"\xff\xfe"}, 1, {}, {}});
  EXPECT_THAT(json_text({"t", {"k"}, {}, {}, false}, foreign), HasSubstr("\xef\xbf\xbd")) << "bytes that are no UTF-8";
}

TEST(HistViewTest, TimesHaveUnits) {
  EXPECT_EQ(duration_text(7), "7 ns");
  EXPECT_EQ(duration_text(7.25), "7.2 ns");
  EXPECT_EQ(duration_text(1234), "1.2 us");
  EXPECT_EQ(duration_text(5e6), "5 ms");
  EXPECT_EQ(duration_text(72.5e9), "72.5 s");
}

}  // namespace
}  // namespace landtrace::cli
