// The file tree through the owner's socket: what a client gets, and who may do what.
#include "domain/test_users.hpp"
#include "host/tree_requests.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>

namespace landtrace::host {
namespace {

using ipc::Operation;

class TreeRequestsTest : public testing::Test {
 protected:
  TreeRequestsTest()
      : domain_(*domain::Domain::create({.ring_bytes = 1 << 18, .owner_uid = kUser})), tree_(*domain_, rules_) {}

  Response ask(Operation operation, std::string_view text = {}, std::uint64_t a = 0, std::uint64_t b = 0) {
    const auto access = domain_->enter();
    const ipc::Request request{.operation = operation, .a = a, .b = b};
    return handle_tree_request(tree_, connection_, {1, {uid_, uid_}}, request, text);
  }
  int error(Operation operation, std::string_view text = {}, std::uint64_t a = 0) {
    return ask(operation, text, a).reply.error;
  }
  void make_event(const std::string& declaration) {
    const auto slot = domain_->registrar().register_native(declaration, domain::kPersist, kUser);
    domain_->events().drop_reference(*slot);
  }

  std::unique_ptr<domain::Domain> domain_;
  rules::Rules rules_{*domain_};
  tracefs::Tree tree_;
  Connection connection_;
  std::uint32_t uid_ = kUser;
};

TEST_F(TreeRequestsTest, AFileIsOpenedReadAndWritten) {
  make_event("e1");
  ASSERT_EQ(error(Operation::kTreeOpen, "set_event", O_RDWR), 0);
  EXPECT_EQ(ask(Operation::kTreeWrite, "user_events:e1 more\n").reply.a, 15u);
  EXPECT_EQ(ask(Operation::kTreeRead, {}, 100).text, "user_events:e1\n");
  EXPECT_EQ(ask(Operation::kTreeRead, {}, 4, 12).text, "e1\n");
  EXPECT_EQ(ask(Operation::kTreeRead, {}, 100, 15).text, "");
}

TEST_F(TreeRequestsTest, AFileIsUsedAsItWasOpened) {
  EXPECT_EQ(error(Operation::kTreeRead, {}, 1), EBADF);
  EXPECT_EQ(error(Operation::kTreeWrite, "x"), EBADF);
  ASSERT_EQ(error(Operation::kTreeOpen, "set_event", O_RDONLY), 0);
  EXPECT_EQ(error(Operation::kTreeWrite, "x"), EBADF);
  ASSERT_EQ(error(Operation::kTreeOpen, "set_event", O_WRONLY), 0);
  EXPECT_EQ(error(Operation::kTreeRead, {}, 1), EBADF);
  EXPECT_EQ(error(Operation::kTreeOpen, "nosuch", O_RDONLY), ENOENT);
  EXPECT_EQ(error(Operation::kTreeOpen, "events", O_RDONLY), EISDIR);
  EXPECT_EQ(error(Operation::kTreeOpen, "README/x", O_RDONLY), ENOTDIR);
}

TEST_F(TreeRequestsTest, LongListingsComeInPieces) {
  constexpr std::size_t kEvents = 4000;
  for (std::size_t i = 0; i < kEvents; ++i) make_event("an_event_with_quite_a_long_name_" + std::to_string(i));
  std::set<std::string> names;
  std::uint64_t next = 0;
  int pieces = 0;
  do {
    const Response piece = ask(Operation::kTreeList, "events/user_events", next);
    ASSERT_EQ(piece.reply.error, 0);
    ASSERT_LE(piece.text.size(), ipc::kMaxText);
    for (std::size_t at = 0; at < piece.text.size();) {
      const std::string line = piece.text.c_str() + at;
      EXPECT_TRUE(names.insert(line).second) << line;
      at += line.size() + 1;
    }
    next = piece.reply.a;
    ++pieces;
  } while (next != 0);
  EXPECT_EQ(names.size(), kEvents + 2);
  EXPECT_GT(pieces, 1);
  EXPECT_TRUE(names.contains("100640 enable"));
  EXPECT_TRUE(names.contains("40755 an_event_with_quite_a_long_name_0"));
}

TEST_F(TreeRequestsTest, InstancesAreMadeAndRemoved) {
  EXPECT_EQ(error(Operation::kTreeMakeFolder, "instances/foo/"), 0);
  EXPECT_EQ(error(Operation::kTreeMakeFolder, "instances/foo"), EEXIST);
  EXPECT_EQ(error(Operation::kTreeMakeFolder, "instances/foo/bar"), EPERM);
  EXPECT_EQ(error(Operation::kTreeMakeFolder, "/"), EEXIST);
  EXPECT_EQ(ask(Operation::kTreeStat, "instances/foo").reply.a, S_IFDIR | 0750u);
  ASSERT_EQ(error(Operation::kTreeOpen, "instances/foo/set_event", O_RDONLY), 0);
  EXPECT_EQ(error(Operation::kTreeRemoveFolder, "instances/foo"), EBUSY);
  ASSERT_EQ(error(Operation::kTreeOpen, "set_event", O_RDONLY), 0);
  EXPECT_EQ(error(Operation::kTreeRemoveFolder, "instances/foo"), 0);
  EXPECT_EQ(error(Operation::kTreeRemoveFolder, "instances/foo"), ENOENT);
  EXPECT_EQ(error(Operation::kTreeRemoveFolder, "README"), ENOTDIR);
  EXPECT_EQ(error(Operation::kTreeRemoveFolder, "events"), EPERM);
}

TEST_F(TreeRequestsTest, OtherUsersMayDoNothing) {
  make_event("e1");
  uid_ = kOtherUser;
  for (const char* const file : {"README", "set_event", "events/user_events/e1/format", "user_events_data"}) {
    for (const int flags : {O_RDONLY, O_WRONLY, O_RDWR}) {
      EXPECT_EQ(error(Operation::kTreeOpen, file, static_cast<std::uint64_t>(flags)), EACCES) << file;
    }
  }
  EXPECT_EQ(error(Operation::kTreeList, ""), EACCES);
  EXPECT_EQ(error(Operation::kTreeStat, "events/user_events"), EACCES);
  EXPECT_EQ(error(Operation::kTreeMakeFolder, "instances/foo"), EACCES);
  EXPECT_EQ(error(Operation::kTreeRemoveFolder, "instances/foo"), EACCES);
}

TEST_F(TreeRequestsTest, MembersOfTheGroupMayReadWhatItsBitsLetThem) {
  make_event("e1");
  uid_ = kOtherUser;
  connection_.in_group = true;
  EXPECT_EQ(error(Operation::kTreeList, "events/user_events"), 0);
  EXPECT_EQ(error(Operation::kTreeOpen, "events/user_events/e1/format", O_RDONLY), 0);
  EXPECT_EQ(error(Operation::kTreeOpen, "set_event", O_RDONLY), 0);
  EXPECT_EQ(error(Operation::kTreeOpen, "set_event", O_WRONLY), EACCES);
  EXPECT_EQ(error(Operation::kTreeOpen, "set_event", O_RDONLY | O_TRUNC), EACCES);
  EXPECT_EQ(error(Operation::kTreeOpen, "events/user_events/e1/inject", O_WRONLY), EACCES);
  EXPECT_EQ(error(Operation::kTreeMakeFolder, "instances/foo"), EACCES);
}

TEST_F(TreeRequestsTest, RootMayDoAll) {
  uid_ = 0;
  EXPECT_EQ(error(Operation::kTreeOpen, "set_event", O_RDWR), 0);
  EXPECT_EQ(error(Operation::kTreeMakeFolder, "instances/foo"), 0);
}

TEST_F(TreeRequestsTest, ARefusedFilterHasAPlace) {
  make_event("e1 u32 n");
  ASSERT_EQ(error(Operation::kTreeOpen, "events/user_events/e1/filter", O_WRONLY), 0);
  const Response filter = ask(Operation::kTreeWrite, "n == 5 && n == x");
  EXPECT_EQ(filter.reply.error, EINVAL);
  EXPECT_EQ(filter.reply.a, 16u);
  ASSERT_EQ(error(Operation::kTreeOpen, "events/user_events/e1/trigger", O_WRONLY), 0);
  const Response trigger = ask(Operation::kTreeWrite, "traceoff if n = 5\n");
  EXPECT_EQ(trigger.reply.error, EINVAL);
  EXPECT_EQ(trigger.reply.a, 15u);
  EXPECT_EQ(ask(Operation::kTreeWrite, "nonsense").reply.a, 0u);
}

}  // namespace
}  // namespace landtrace::host
