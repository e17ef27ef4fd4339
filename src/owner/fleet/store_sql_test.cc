#include "fleet/store_sql.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace landtrace::fleet {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(StoreSqlTest, PartitionsOfMoreDaysAgoAreOld) {
  const std::string lines = "20261128\t20261128\n20261121\t20261128\n20261120\t20261128\n20200101\t20261128";
  EXPECT_THAT(old_partitions(lines, 7), ElementsAre("20200101", "20261120"));
  EXPECT_THAT(old_partitions("20260301\t20260301\n20260228\t20260301\n20260227\t20260301\n", 1),
              ElementsAre("20260227"));
  EXPECT_THAT(old_partitions(lines, ~0ull), IsEmpty());
  EXPECT_THAT(old_partitions("", 7), IsEmpty());
}

TEST(StoreSqlTest, AClockThatIsAheadMakesNothingOld) {
  EXPECT_THAT(old_partitions("20261128\t20271128\n20261127\t20271128\n", 7), IsEmpty()) << "the store's";
  EXPECT_THAT(old_partitions("20261128\t20261128\n20271128\t20261128\n20261101\t20261128\n", 7),
              ElementsAre("20261101"))
      << "that of one of several collectors";
}

TEST(StoreSqlTest, WhatIsNoDayIsLeftAlone) {
  EXPECT_THAT(old_partitions("all\t20261128\n20269999\t20261128\n20261128\n\n20261128\t20261128\n", 1), IsEmpty());
}

}  // namespace
}  // namespace landtrace::fleet
