#include "daemon/namespaces.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace landtrace::daemon {
namespace {

TEST(NamespacesTest, AMapOfOneUser) {
  const auto map = parse_id_map("         0       1000          1\n");
  ASSERT_TRUE(map);
  ASSERT_EQ(map->size(), 1u);
  EXPECT_EQ(inside_id(*map, 1000), 0u);
  EXPECT_EQ(inside_id(*map, 1001), 65534u);
}

TEST(NamespacesTest, AMapOfSeveralRanges) {
  const auto map = parse_id_map("0 1000 1\n1 100000 65536\n");
  ASSERT_TRUE(map);
  EXPECT_EQ(inside_id(*map, 100009), 10u);
  EXPECT_EQ(inside_id(*map, 165536), 65534u);
}

TEST(NamespacesTest, WithoutAMapIdsAreTheSame) { EXPECT_EQ(inside_id({}, 4711), 4711u); }

TEST(NamespacesTest, WhatIsNoMapIsRefused) {
  EXPECT_EQ(parse_id_map("").error().code, EINVAL);
  EXPECT_EQ(parse_id_map("0 x 1\n").error().code, EINVAL);
  EXPECT_EQ(parse_id_map("0 1\n").error().code, EINVAL);
}

TEST(NamespacesTest, AProcessSharesItsOwn) {
  EXPECT_TRUE(*shares_namespace(static_cast<std::uint32_t>(::getpid()), "pid"));
  EXPECT_TRUE(id_map_of(static_cast<std::uint32_t>(::getpid()), "uid_map")->empty());
  EXPECT_FALSE(shares_namespace(0x7fffffff, "pid"));
}

}  // namespace
}  // namespace landtrace::daemon
