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
