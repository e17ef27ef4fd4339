#include "daemon/namespaces.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

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
  const auto self = static_cast<std::uint32_t>(::getpid());
  EXPECT_TRUE(*shares_pids(self));
  EXPECT_TRUE(*shares_mounts(self));
  EXPECT_TRUE(id_map_of(self, "uid_map")->empty());
}

TEST(NamespacesTest, NobodySharesNothing) {
  constexpr std::uint32_t kNobody = 0x7fffffff;
  EXPECT_FALSE(shares_pids(kNobody));
  EXPECT_FALSE(shares_mounts(kNobody));
  EXPECT_FALSE(id_map_of(kNobody, "uid_map"));
}

// A child in namespaces of its own, for as long as it is looked at.
TEST(NamespacesTest, AChildWithNamespacesOfItsOwnSharesLess) {
  const auto child = static_cast<pid_t>(
      ::syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | SIGCHLD, nullptr, nullptr, nullptr, 0ul));
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  if (child < 0) GTEST_SKIP() << "no user namespaces here";
  const auto pid = static_cast<std::uint32_t>(child);
  EXPECT_FALSE(*shares_pids(pid));
  EXPECT_FALSE(*shares_mounts(pid));
  EXPECT_FALSE(id_map_of(pid, "uid_map"));  // nobody has given it any ids
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace landtrace::daemon
