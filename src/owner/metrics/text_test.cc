#include "metrics/text.hpp"

#include <gtest/gtest.h>

namespace landtrace::metrics {
namespace {

TEST(MetricsTextTest, CountersHaveTheirSuffix) {
  const std::vector<Family> families{{"a", "how many", Family::Kind::kCounter, {{{}, std::uint64_t{3}}}},
                                     {"b", "now", Family::Kind::kGauge, {{{}, std::int64_t{-3}}}}};
  EXPECT_EQ(text_of(families, TextFormat::kPrometheus),
            "# HELP a_total how many\n# TYPE a_total counter\na_total 3\n"
            "# HELP b now\n# TYPE b gauge\nb -3\n");
  EXPECT_EQ(text_of(families, TextFormat::kOpenMetrics),
            "# HELP a how many\n# TYPE a counter\na_total 3\n"
            "# HELP b now\n# TYPE b gauge\nb -3\n# EOF\n");
}

TEST(MetricsTextTest, BucketsAreCumulativeAndEndWithAll) {
  Series series{{{"route", "/"}}, std::uint64_t{6}, {{1, 1}, {2, 2}, {2, 1}, {4, 2}}, Number(std::uint64_t{17})};
  const Family family{"t", "times", Family::Kind::kHistogram, {series}};
  EXPECT_EQ(
      text_of({family}, TextFormat::kPrometheus),
      "# HELP t times\n# TYPE t histogram\n"
      "t_bucket{route=\"/\",le=\"1.0\"} 1\nt_bucket{route=\"/\",le=\"2.0\"} 4\nt_bucket{route=\"/\",le=\"4.0\"} 6\n"
      "t_bucket{route=\"/\",le=\"+Inf\"} 6\nt_sum{route=\"/\"} 17\nt_count{route=\"/\"} 6\n");
}

TEST(MetricsTextTest, ASumThatIsNotKnownIsNotSaid) {
  const Family family{"t", "", Family::Kind::kHistogram, {{{}, std::uint64_t{1}, {{1, 1}}}}};
  EXPECT_EQ(text_of({family}, TextFormat::kPrometheus).find("t_sum"), std::string::npos);
}

std::string shown(const std::string& value) {
  const Family family{"g", "", Family::Kind::kGauge, {{{{"v", value}}, std::uint64_t{1}}}};
  const std::string text = text_of({family}, TextFormat::kPrometheus);
  const std::size_t begin = text.find("v=\"") + 3;
  return text.substr(begin, text.rfind("\"} 1") - begin);
}

TEST(MetricsTextTest, WhatIsInLabelsCannotEndThem) {
  EXPECT_EQ(shown("a\"} 7\nx 1"), "a\\\"} 7\\nx 1");
  EXPECT_EQ(shown("back\\slash"), "back\\\\slash");
  EXPECT_EQ(shown("\xe2\x82\xac \xc3\xa4 \xf0\x9f\x99\x82"), "\xe2\x82\xac \xc3\xa4 \xf0\x9f\x99\x82");
}

TEST(MetricsTextTest, BytesThatAreNoTextAreReplaced) {
  const std::string gone = "\xef\xbf\xbd";
  EXPECT_EQ(shown("a\xff"), "a" + gone);
  EXPECT_EQ(shown("\xc3"), gone) << "cut off";
  EXPECT_EQ(shown("\xe2\x82"), gone + gone);
  EXPECT_EQ(shown("\xc0\x80"), gone + gone) << "longer than need be";
  EXPECT_EQ(shown("\xe0\x80\x80"), gone + gone + gone);
  EXPECT_EQ(shown("\xed\xa0\x80"), gone + gone + gone) << "half of a pair";
  EXPECT_EQ(shown("\xf4\x90\x80\x80"), gone + gone + gone + gone) << "above all";
  EXPECT_EQ(shown("\xf0\x80\x80\x80"), gone + gone + gone + gone);
  EXPECT_EQ(shown("\xf5\x80\x80\x80"), gone + gone + gone + gone);
}

TEST(MetricsTextTest, HelpIsOneLine) {
  const Family family{"g", "a\n\"b\"", Family::Kind::kGauge, {}};
  EXPECT_EQ(text_of({family}, TextFormat::kPrometheus), "# HELP g a\\n\"b\"\n# TYPE g gauge\n");
  EXPECT_EQ(text_of({family}, TextFormat::kOpenMetrics), "# HELP g a\\n\\\"b\\\"\n# TYPE g gauge\n# EOF\n");
}

}  // namespace
}  // namespace landtrace::metrics
