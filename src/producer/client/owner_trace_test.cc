#include "client/owner_trace.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

namespace landtrace::client {
namespace {

constexpr std::uint32_t kUser = 1000, kOther = 1001;

ucred owner(pid_t pid, std::uint32_t uid) { return {pid, uid, uid}; }

TEST(OwnerTrace, AnOwnerOfTheSameUserIsNamedWhereAncestorsAloneMayTrace) {
  EXPECT_EQ(owner_to_name(1, kUser, owner(7, kUser)), 7);
  EXPECT_EQ(owner_to_name(1, 0, owner(7, 0)), 7);
}

TEST(OwnerTrace, NobodyIsNamedWhereItMakesNoDifference) {
  for (const int scope : {-1, 0, 2, 3}) EXPECT_EQ(owner_to_name(scope, kUser, owner(7, kUser)), 0) << scope;
  // Root may in any case, and others may not.
  EXPECT_EQ(owner_to_name(1, kUser, owner(7, 0)), 0);
  EXPECT_EQ(owner_to_name(1, kUser, owner(7, kOther)), 0);
}

// In another pid namespace; and 0 and -1 would stand for nobody and everybody.
TEST(OwnerTrace, AnOwnerWithoutANumberHereIsNotNamed) {
  EXPECT_EQ(owner_to_name(1, kUser, owner(0, kUser)), 0);
  EXPECT_EQ(owner_to_name(1, kUser, owner(-1, kUser)), 0);
}

TEST(OwnerTrace, TheScopeIsReadFromItsFile) {
  const std::string path = testing::TempDir() + "owner_trace_test." + std::to_string(::getpid());
  EXPECT_EQ(yama_scope(path.c_str()), -1);
  for (const auto& [text, scope] : {std::pair("0\n", 0), {"1\n", 1}, {"2\n", 2}, {"9", 9}, {"", -1}, {"x\n", -1}}) {
    std::ofstream(path, std::ios::trunc) << text;
    EXPECT_EQ(yama_scope(path.c_str()), scope) << text;
  }
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace landtrace::client
