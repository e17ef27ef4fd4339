#include "domain/descriptors.hpp"

#include <gtest/gtest.h>

namespace landtrace::domain {
namespace {

constexpr std::uint32_t kDomainsUser = 500, kOneGuest = 1000, kAnother = 1001;

std::uint64_t take_all(Descriptors& descriptors, std::uint32_t uid) {
  std::uint64_t taken = 0;
  while (taken < 100'000 && descriptors.take(uid, 1)) ++taken;
  return taken;
}

TEST(DescriptorsTest, OneGuestLeavesHalfToTheOthers) {
  Descriptors descriptors(kDomainsUser, 20'000);
  const std::uint64_t first = take_all(descriptors, kOneGuest);
  EXPECT_GT(first, 9'000u);
  EXPECT_LE(first, 10'000u);
  EXPECT_GT(take_all(descriptors, kAnother), 4'000u);
  EXPECT_FALSE(descriptors.take(kOneGuest, 1));
}

TEST(DescriptorsTest, HoweverManyGuestsThereAreTheOwnerAndRootFindRoom) {
  Descriptors descriptors(kDomainsUser, 2'000);
  std::uint64_t taken = 0;
  for (std::uint32_t uid = 1000; uid < 2000; ++uid) taken += take_all(descriptors, uid);
  EXPECT_LE(taken, 2'000u - 256 - 128);
  EXPECT_TRUE(descriptors.take(kDomainsUser, 100));
  EXPECT_TRUE(descriptors.take(0, 100));
}

TEST(DescriptorsTest, WhatIsGivenBackMayBeTakenAgain) {
  Descriptors descriptors(kDomainsUser, 2'000);
  const std::uint64_t taken = take_all(descriptors, kOneGuest);
  EXPECT_FALSE(descriptors.take(kOneGuest, 3));
  descriptors.give_back(kOneGuest, 3);
  EXPECT_EQ(descriptors.taken_by(kOneGuest), taken - 3);
  EXPECT_TRUE(descriptors.take(kOneGuest, 3));
  descriptors.give_back(kAnother, 7);
  EXPECT_EQ(descriptors.taken_by(kAnother), 0u);
}

TEST(DescriptorsTest, WhereThereAreFewGuestsStillGetSome) {
  Descriptors descriptors(kDomainsUser, 1'024);
  EXPECT_GT(take_all(descriptors, kOneGuest), 200u);
}

}  // namespace
}  // namespace landtrace::domain
