#include "measure/distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace landtrace::measure {
namespace {

TEST(DistributionTest, PercentilesAreExactToABucketAndEvenWithin) {
  Distribution spread;
  spread.add(0, 10, 5);
  spread.add(3, 80, 500);
  spread.add(10, 10, 9000);
  EXPECT_EQ(spread.count(), 100u);
  EXPECT_DOUBLE_EQ(spread.mean(), 95.05);
  EXPECT_DOUBLE_EQ(spread.percentile(0.05), 0.5);
  EXPECT_DOUBLE_EQ(spread.percentile(0.1), 1) << "the top of the first bucket";
  EXPECT_DOUBLE_EQ(spread.percentile(0.5), 5 + 3 * 0.5);
  EXPECT_DOUBLE_EQ(spread.percentile(1), 1024);
}

TEST(DistributionTest, OfNothingIsZero) {
  EXPECT_DOUBLE_EQ(Distribution().mean(), 0);
  EXPECT_DOUBLE_EQ(Distribution().percentile(0.5), 0);
  Distribution unhit;
  unhit.add(4, 0, 0);
  EXPECT_DOUBLE_EQ(unhit.percentile(0.5), 9) << "the bottom of the only bucket";
}

TEST(DistributionTest, BucketsOfOnePowerAreAddedUp) {
  Distribution spread;
  spread.add(3, 2, 12);
  spread.add(3, 1, 8);
  ASSERT_EQ(spread.buckets().size(), 1u);
  EXPECT_EQ(spread.buckets().at(5).count, 3u);
  EXPECT_EQ(spread.buckets().at(5).sum, 20u);
  EXPECT_EQ(spread.sum(), 20u);
}

TEST(DistributionTest, NegativeValuesAreInTheFirstBucket) {
  Distribution spread;
  spread.add(0, 2, static_cast<std::uint64_t>(-30));
  spread.may_be_negative(32);
  EXPECT_EQ(spread.lowest(), std::numeric_limits<std::int32_t>::min());
  EXPECT_DOUBLE_EQ(spread.percentile(0.99), -15);
  spread.add(3, 2, 14);
  EXPECT_DOUBLE_EQ(spread.mean(), -4);
  EXPECT_DOUBLE_EQ(spread.percentile(0.5), -15);
  EXPECT_DOUBLE_EQ(spread.percentile(0.75), 5 + 3 * 0.5);
  spread.may_be_negative(64);
  EXPECT_EQ(spread.lowest(), std::numeric_limits<std::int64_t>::min());
  Distribution other;
  other.may_be_negative(0);
  EXPECT_FALSE(other.has_negative());
}

TEST(DistributionTest, BucketsMeetWithoutAGap) {
  Distribution spread;
  for (unsigned power = 0; power <= 64; ++power) spread.add(power, 1, 1);
  std::uint64_t next = 0;
  for (const auto& [low, bucket] : spread.buckets()) {
    EXPECT_EQ(bucket.low, next);
    EXPECT_GE(bucket.high, bucket.low);
    next = bucket.high + 1;
  }
  EXPECT_EQ(next, 0u) << "up to the largest number";
}

TEST(DistributionTest, PowersThatHaveNothingAreThereBetweenOthers) {
  Distribution spread;
  spread.add(0, 1, 1);
  spread.add(3, 2, 12);
  const auto powers = spread.powers();
  ASSERT_EQ(powers.size(), 4u);
  EXPECT_EQ(powers[1].low, 2u);
  EXPECT_EQ(powers[1].high, 2u);
  EXPECT_EQ(powers[2].count, 0u);
  EXPECT_EQ(powers[3].low, 5u);
  EXPECT_EQ(powers[3].count, 2u);
}

// The first of the step that a value is in, as the programs compute it.
std::uint64_t first_of(std::uint64_t value, std::uint64_t steps) {
  std::uint64_t width = 1;
  while (value / width >= 2 * steps) width *= 2;
  return value / width * width;
}

TEST(DistributionTest, StepsOfAPowerAreJoined) {
  Distribution spread;
  for (const std::uint64_t value : {0, 1, 70, 100, 127, 128, 300}) spread.add_step(first_of(value, 32), 32, 1, value);
  std::string text;
  for (const auto& power : spread.powers()) {
    text += std::to_string(power.low) + '-' + std::to_string(power.high) + ':' + std::to_string(power.count) + ' ';
  }
  EXPECT_EQ(text, "0-0:1 1-1:1 2-3:0 4-7:0 8-15:0 16-31:0 32-63:0 64-127:3 128-255:1 256-511:1 ");
}

TEST(DistributionTest, PercentilesOfStepsAreWithinThreePercent) {
  // Spread over many powers, as times of requests are; and all the same.
  std::vector<std::uint64_t> values;
  std::uint64_t value = 1;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    value = value * 6364136223846793005ull + 1442695040888963407ull;
    values.push_back((value >> 40) * (value >> 59) + 1);
  }
  for (const std::uint64_t same : {1ull, 63ull, 64ull, 65ull, 127ull, 1024ull, 1055ull, 123'456'789ull}) {
    Distribution spread;
    for (int i = 0; i < 10; ++i) spread.add_step(first_of(same, 32), 32, 1, same);
    for (const double part : {0.0, 0.5, 0.999, 1.0}) {
      EXPECT_NEAR(spread.percentile(part), static_cast<double>(same), 0.03 * static_cast<double>(same)) << part;
    }
  }
  Distribution spread;
  for (const std::uint64_t each : values) spread.add_step(first_of(each, 32), 32, 1, each);
  std::sort(values.begin(), values.end());
  for (const double part : {0.01, 0.5, 0.9, 0.99, 0.999}) {
    const auto exact = static_cast<double>(values[static_cast<std::size_t>(part * 20'000) - 1]);
    EXPECT_NEAR(spread.percentile(part), exact, 0.03 * exact) << part;
  }
}

}  // namespace
}  // namespace landtrace::measure
