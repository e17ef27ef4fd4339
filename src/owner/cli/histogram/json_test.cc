#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/histogram/test_table.hpp"
#include "cli/histogram/view.hpp"

namespace landtrace::cli {
namespace {

using testing::HasSubstr;

TEST(HistJsonTest, IsOneLine) {
  const std::string json = json_text(kSpread, *make_view(kSpread, spread_by_route()));
  EXPECT_EQ(json.find('\n'), json.size() - 1);
}

TEST(HistJsonTest, HasTotalsAndGroups) {
  const std::string json = json_text(kSpread, *make_view(kSpread, spread_by_route()));
  EXPECT_TRUE(json.starts_with(R"({"title":"done","hits":5,"dropped":2,"groups":[{"key":{"route":"/a"},"count":4,)"))
      << json;
  EXPECT_THAT(json, HasSubstr(R"("key":{"route":"/b"},"count":1,)"));
}

TEST(HistJsonTest, ASpreadHasItsFiguresAndBuckets) {
  const std::string json = json_text(kSpread, *make_view(kSpread, spread_by_route()));
  EXPECT_THAT(json, HasSubstr(R"("took_ns":{"mean":400.0,"p50":)"));
  EXPECT_THAT(json, HasSubstr(R"("sum":1600,)"));
  EXPECT_THAT(json, HasSubstr(R"({"from":129,"to":256,"count":3})"));
}

TEST(HistJsonTest, TheSlowestHaveTheirFields) {
  HistView view = *make_view(kSpread, spread_by_route());
  const SlowEvent slow{
      .ns = 5, .host = "a", .time_ns = 6, .tid = 7, .task = "t", .fields = R"({"id":7})", .stack = {"f"}};
  view.groups[0].slowest = {slow, slow};
  view.groups[0].slowest[1].fields = "no object";
  const std::string json = json_text(kSpread, view);
  EXPECT_THAT(json, HasSubstr(R"("slowest":[{"ns":5,"host":"a","time_ns":6,"tid":7,"task":"t",)"
                              R"("fields":{"id":7},"stack":["f"]},)"));
  EXPECT_THAT(json, HasSubstr(R"("fields":"no object","stack":["f"]}]})"));
}

TEST(HistJsonTest, SumsHaveTheirNames) {
  HistView view;
  view.groups = {{{"1"}, 2, {30, 40}, {}}};
  EXPECT_THAT(json_text({"t", {"k"}, {"a", "b"}, {}, false}, view), HasSubstr(R"("count":2,"sums":{"a":30,"b":40}})"));
}

TEST(HistJsonTest, EventsThatAreInNoPairAreCounted) {
  HistView view;
  view.unpaired = Unpaired{.starts = 3, .ends = 0, .lost = 2};
  EXPECT_THAT(json_text(kSpread, view), HasSubstr(R"("starts_without_end":3,"ends_without_start":0,"lost":2})"));
}

TEST(HistJsonTest, NumbersAreNumbers) {
  HistKey number(std::int64_t{-1}, "-1");
  number.is_number = true;
  HistKey real(0.1, "0.1");
  real.is_number = true;
  HistView view;
  view.groups = {{{number, real, {std::uint64_t{255}, "ff"}, "7"}, 1, {~0ull, ~0ull}, {}}};
  view.sum_types = {{"a", false, true}};
  EXPECT_THAT(
      json_text({"t", {"i", "r", "h", "t"}, {"a", "b"}, {}, false}, view),
      HasSubstr(R"("key":{"i":-1,"r":0.1,"h":"ff","t":"7"},"count":1,"sums":{"a":-1,"b":18446744073709551615})"));
}

TEST(HistJsonTest, NegativeValuesAreInTheFirstBucket) {
  HistView view;
  view.groups.resize(1);
  view.groups[0].spread.add(0, 2, static_cast<std::uint64_t>(-3));
  view.groups[0].spread.may_be_negative(8);
  EXPECT_THAT(json_text({"t", {}, {}, "v", false}, view),
              HasSubstr(R"("v":{"mean":-1.5,"p50":-1.5,"p90":-1.5,"p99":-1.5,"p99.9":-1.5,"sum":-3,)"
                        R"("buckets":[{"from":-128,"to":1,"count":2}])"));
}

TEST(HistJsonTest, NothingIsAnEmptyList) {
  EXPECT_EQ(json_text(kSpread, {}), "{\"title\":\"done\",\"hits\":0,\"dropped\":0,\"groups\":[]}\n");
}

TEST(HistJsonTest, BytesThatAreNoUtf8AreReplaced) {
  HistView foreign;
  foreign.groups.push_back({{"\xff\xfe"}, 1, {}, {}});
  EXPECT_THAT(json_text({"t", {"k"}, {}, {}, false}, foreign), HasSubstr("\xef\xbf\xbd"));
}

}  // namespace
}  // namespace landtrace::cli
