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

TEST_F(DomainChoiceTest, WhyItIsThatOneIsSaid) {
  const ChosenDomain named = choose_domain("/a");
  EXPECT_EQ(named.socket, "/a");
  EXPECT_EQ(why_text(named), "named by --socket");
  socket_.set("/b");
  EXPECT_EQ(choose_domain("").socket, "/b");
  EXPECT_EQ(why_text(choose_domain("")), "named by $LANDTRACE_SOCKET");
  EXPECT_EQ(choose_domain("/a").why, ChosenDomain::Why::kOption);
  EXPECT_EQ(why_text({ipc::kSystemSocket, ChosenDomain::Why::kSystem}),
            "that of all users, because nobody serves " + ipc::user_socket());
}

TEST_F(DomainChoiceTest, TheUsersOwnIsTakenWithoutAWord) {
  ASSERT_TRUE(ipc::runtime_folder());
  const auto listener = ipc::listen_at(ipc::user_socket());
  ASSERT_TRUE(listener);
  EXPECT_EQ(why_text(choose_domain("")), "the user's own");
  testing::internal::CaptureStderr();
  EXPECT_EQ(domain_to_speak_to(""), ipc::user_socket());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
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
