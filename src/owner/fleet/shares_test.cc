#include "fleet/shares.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace landtrace::fleet {
namespace {

using Shares = std::vector<std::uint32_t>;

TEST(SharesTest, WhereThereIsEnoughEachHasWhatItWants) {
  EXPECT_EQ(fair_shares({{"a", 3}, {"b", 0}, {"c", 5}}, 8), (Shares{3, 0, 5}));
  EXPECT_TRUE(fair_shares({}, 8).empty());
}

TEST(SharesTest, WhatOneLeavesIsForTheOthers) {
  EXPECT_EQ(fair_shares({{"a", 100}, {"b", 2}, {"c", 100}}, 12), (Shares{5, 2, 5}));
  EXPECT_EQ(fair_shares({{"a", ~0u}, {"b", ~0u}}, 9), (Shares{4, 5}));
}

TEST(SharesTest, NobodyGetsMoreByWantingManyTimes) {
  std::vector<Want> wants(4000, {"evil", 2});
  wants.push_back({"a", 65});
  wants.push_back({"b", 3000});
  const Shares shares = fair_shares(wants, 4000);
  EXPECT_EQ(shares[4000], 65u);
  EXPECT_GT(shares[4001], 1900u);
  EXPECT_LE(std::accumulate(shares.begin(), shares.end(), 0u), 4000u);
}

}  // namespace
}  // namespace landtrace::fleet
