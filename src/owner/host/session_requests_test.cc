// Sessions through the owner's socket: how large they are, and whom they leave out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "host/session_requests.hpp"

namespace landtrace::host {
namespace {

using ipc::Operation;
using testing::ElementsAre;

constexpr std::uint64_t kLarge = 1 << 21;
constexpr std::uint64_t kSmall = 1 << 18;

class SessionRequestsTest : public testing::Test {
 protected:
  SessionRequestsTest() : domain_(*domain::Domain::create({.ring_bytes = kSmall, .owner_uid = kUser})) {}

  Response ask(Connection& connection, const ipc::Request& request, std::string_view text = {}) {
    const auto access = domain_->enter();
    return handle_request(*domain_, rules_, connection, 1, {kUser, kUser}, request, text);
  }
  // The size that a session of its own connection got; 0: none.
  std::uint64_t open_session(std::uint64_t wanted, std::uint64_t least) {
    Connection& connection = connections_.emplace_back();
    connection.fd = Fd(::dup(0));
    const Response opened = ask(connection, {.operation = Operation::kOpenSession, .a = wanted, .c = least});
    if (opened.reply.error != 0) connections_.pop_back();
    return opened.reply.error == 0 ? std::uint64_t{1} << opened.reply.b : 0;
  }
  domain::Instance& session() { return *domain_->instances().at(connections_.back().session); }
  int leave_out(std::vector<std::uint32_t> threads) {
    const std::string_view bytes(reinterpret_cast<const char*>(threads.data()), threads.size() * 4);
    return ask(connections_.back(), {.operation = Operation::kSessionThreads}, bytes).reply.error;
  }

  static constexpr std::uint32_t kUser = 0;
  std::unique_ptr<domain::Domain> domain_;
  rules::Rules rules_{*domain_};
  std::deque<Connection> connections_;
};

TEST_F(SessionRequestsTest, OneThatCanDoWithLessLeavesRoomForAsManyAsThereMayBe) {
  EXPECT_EQ(open_session(kLarge, kSmall), kLarge);
  std::uint64_t last = kLarge;
  for (std::uint32_t i = 2; i < plan::kMaxInstances; ++i) {
    const std::uint64_t got = open_session(kLarge, kSmall);
    ASSERT_GE(got, kSmall) << i;
    ASSERT_LE(got, last) << i;
    last = got;
  }
  EXPECT_LT(last, kLarge);
  EXPECT_EQ(open_session(kLarge, kSmall), 0u) << "more than there may be instances";
}

TEST_F(SessionRequestsTest, OneThatWantsItsSizeHasThatOrNothing) {
  std::uint64_t got = kLarge;
  int sessions = 0;
  for (; got == kLarge; ++sessions) got = open_session(kLarge, 0);
  EXPECT_EQ(got, 0u);
  EXPECT_GT(sessions, 2);
}

TEST_F(SessionRequestsTest, WhoCanDoWithLessAndWantsNoMoreHasThat) {
  EXPECT_EQ(open_session(kSmall, kLarge), kSmall);
  EXPECT_EQ(open_session(kSmall, 1), kSmall);
}

TEST_F(SessionRequestsTest, ThreadsAreLeftOutUntilAnotherListSaysOtherwise) {
  open_session(kSmall, 0);
  EXPECT_EQ(leave_out({9, 7}), 0);
  EXPECT_THAT(*session().threads.never, ElementsAre(7, 9));
  EXPECT_FALSE(session().threads.only);
  EXPECT_EQ(leave_out({5}), 0);
  EXPECT_THAT(*session().threads.never, ElementsAre(5));
  EXPECT_EQ(leave_out({}), 0);
  EXPECT_FALSE(session().threads.never);
}

TEST_F(SessionRequestsTest, ListsWantASessionAndWholeNumbers) {
  Connection& without = connections_.emplace_back();
  EXPECT_EQ(leave_out({1}), EINVAL);
  without.fd = Fd(::dup(0));
  connections_.pop_back();
  open_session(kSmall, 0);
  EXPECT_EQ(ask(connections_.back(), {.operation = Operation::kSessionThreads}, "abc").reply.error, EINVAL);
  EXPECT_FALSE(session().threads.never);
}

}  // namespace
}  // namespace landtrace::host
