#include "cli/histogram/distribution.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace landtrace::cli {
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
  EXPECT_EQ(spread.buckets().at(3).count, 3u);
  EXPECT_EQ(spread.buckets().at(3).sum, 20u);
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
  EXPECT_EQ(Distribution::low(0), 0u);
  EXPECT_EQ(Distribution::high(0), 1u);
  for (unsigned power = 1; power <= 64; ++power) {
    EXPECT_EQ(Distribution::low(power), Distribution::high(power - 1) + 1) << power;
    EXPECT_GT(Distribution::high(power), Distribution::high(power - 1)) << power;
  }
  EXPECT_EQ(Distribution::high(64), ~0ull);
}

}  // namespace
}  // namespace landtrace::cli
