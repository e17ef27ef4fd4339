#include "cli/domain_choice.hpp"

#include <gtest/gtest.h>

#include "base/fd.hpp"
#include "cli/test_environment.hpp"
#include "ipc/path.hpp"
#include "ipc/socket.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {
namespace {

class DomainChoiceTest : public testing::Test {
 protected:
  output::TempDir folder_;
  Variable runtime_{"XDG_RUNTIME_DIR", folder_.file("").c_str()};
  Variable socket_{ipc::kSocketVariable, nullptr};
};

TEST_F(DomainChoiceTest, TheOptionComesBeforeTheEnvironment) {
  EXPECT_EQ(named_socket(""), "");
  EXPECT_EQ(named_socket("/a"), "/a");
  socket_.set("/b");
  EXPECT_EQ(named_socket(""), "/b");
  EXPECT_EQ(named_socket("/a"), "/a");
}

TEST_F(DomainChoiceTest, ANamedDomainIsTakenServedOrNot) {
  EXPECT_EQ(mountable_domain("/nowhere"), "/nowhere");
  socket_.set("/nowhere/else");
  EXPECT_EQ(mountable_domain(""), "/nowhere/else");
}

TEST_F(DomainChoiceTest, TheUsersOwnIsTakenWhereItIsServed) {
  ASSERT_TRUE(ipc::runtime_folder());
  EXPECT_NE(mountable_domain(""), ipc::user_socket());
  const auto listener = ipc::listen_at(ipc::user_socket());
  ASSERT_TRUE(listener);
  EXPECT_EQ(mountable_domain(""), ipc::user_socket());
}

TEST_F(DomainChoiceTest, NobodyIsThereWithoutASocketOrBehindADeadOne) {
  ASSERT_TRUE(ipc::runtime_folder());
  EXPECT_TRUE(is_nobody(ipc::connect_to(ipc::user_socket()).error()));
  { ASSERT_TRUE(ipc::listen_at(ipc::user_socket())); }
  EXPECT_TRUE(is_nobody(ipc::connect_to(ipc::user_socket()).error()));
  EXPECT_FALSE(is_nobody(Error(EACCES)));
  EXPECT_FALSE(is_nobody(Error(EPIPE)));
}

}  // namespace
}  // namespace landtrace::cli
