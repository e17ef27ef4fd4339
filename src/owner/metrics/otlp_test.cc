#include "metrics/otlp.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace landtrace::metrics {
namespace {

using nlohmann::json;

json metrics_of(const std::vector<Family>& families) {
  const json whole = json::parse(otlp_json(families, {5, 7}, "here"));
  const json& resource = whole.at("resourceMetrics").at(0);
  EXPECT_EQ(resource.at("resource").at("attributes").at(1).at("value").at("stringValue"), "here");
  return resource.at("scopeMetrics").at(0).at("metrics");
}

TEST(OtlpTest, CountersAreCumulativeSums) {
  const json metric =
      metrics_of({{"a", "how many", Family::Kind::kCounter, {{{{"cpu", "1"}}, std::uint64_t{3}}}}}).at(0);
  EXPECT_EQ(metric.at("name"), "a");
  EXPECT_EQ(metric.at("description"), "how many");
  EXPECT_EQ(metric.at("sum").at("aggregationTemporality"), 2);
  EXPECT_EQ(metric.at("sum").at("isMonotonic"), true);
  const json& point = metric.at("sum").at("dataPoints").at(0);
  EXPECT_EQ(point.at("asInt"), "3");
  EXPECT_EQ(point.at("startTimeUnixNano"), "5");
  EXPECT_EQ(point.at("timeUnixNano"), "7");
  EXPECT_EQ(point.at("attributes").at(0).at("key"), "cpu");
  EXPECT_EQ(point.at("attributes").at(0).at("value").at("stringValue"), "1");
}

TEST(OtlpTest, GaugesMayBeNegativeOrLargerThanItsWholeNumbers) {
  const json metrics = metrics_of({{"g", "", Family::Kind::kGauge, {{{}, std::int64_t{-3}}, {{}, ~std::uint64_t{0}}}}});
  const json& points = metrics.at(0).at("gauge").at("dataPoints");
  EXPECT_EQ(points.at(0).at("asInt"), "-3");
  EXPECT_EQ(points.at(1).at("asDouble"), 18446744073709551615.0);
  EXPECT_FALSE(metrics.at(0).contains("sum"));
}

TEST(OtlpTest, BucketsAreNotCumulativeAndHaveOneMoreThanBounds) {
  const Series series{{}, std::uint64_t{6}, {{1, 1}, {2, 2}, {2, 1}, {4, 2}}, Number(std::uint64_t{17})};
  const json metric = metrics_of({{"t", "", Family::Kind::kHistogram, {series}}}).at(0).at("histogram");
  const json& point = metric.at("dataPoints").at(0);
  EXPECT_EQ(metric.at("aggregationTemporality"), 2);
  EXPECT_FALSE(metric.contains("isMonotonic"));
  EXPECT_EQ(point.at("bucketCounts"), json({"1", "3", "2", "0"}));
  EXPECT_EQ(point.at("explicitBounds"), json({1.0, 2.0, 4.0}));
  EXPECT_EQ(point.at("count"), "6");
  EXPECT_EQ(point.at("sum"), 17.0);
}

TEST(OtlpTest, WhatHasNothingIsLeftOutAndBytesThatAreNoTextDoNoHarm) {
  EXPECT_TRUE(metrics_of({{"t", "", Family::Kind::kHistogram, {}}}).empty());
  EXPECT_EQ(metrics_of({{"t", "", Family::Kind::kGauge, {{{{"l", "\xff"}}, std::uint64_t{1}}}}}).size(), 1u);
}

}  // namespace
}  // namespace landtrace::metrics
