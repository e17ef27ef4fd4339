#include "ipc/tree_client.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "host/server.hpp"
#include "host/test_serving.hpp"

namespace landtrace::host {
namespace {

class TreeClientTest : public testing::Test {
 protected:
  TreeClientTest()
      : domain_(*domain::Domain::create({.ring_bytes = 1 << 18})),
        server_(*Server::create(*domain_, rules_, testing::TempDir() + "tree_client" + std::to_string(::getpid()))),
        thread_([this] { server_->run(); }),
        tree_(*ipc::TreeClient::connect(server_->path())) {}
  ~TreeClientTest() override {
    server_->stop();
    thread_.join();
  }

  std::string contents(const std::string& path) {
    if (!tree_.open(path, O_RDONLY)) return "(not opened)";
    std::string text;
    for (;;) {
      const auto piece = tree_.read();
      if (!piece || piece->empty()) return text;
      text += *piece;
    }
  }

  std::unique_ptr<domain::Domain> domain_;
  rules::Rules rules_{*domain_};
  std::unique_ptr<Server> server_;
  std::thread thread_;
  ipc::TreeClient tree_;
};

TEST_F(TreeClientTest, WritesAllOfWhatAFileTakesInSteps) {
  ASSERT_TRUE(tree_.open("dynamic_events", O_WRONLY));
  ASSERT_TRUE(tree_.write("u:e1\nu:e2\n"));
  ASSERT_TRUE(tree_.open("set_event", O_WRONLY));
  ASSERT_TRUE(tree_.write("e1 e2\n"));
  EXPECT_EQ(contents("set_event"), "user_events:e2\nuser_events:e1\n");
  ASSERT_TRUE(tree_.open("set_event", O_WRONLY | O_TRUNC));
  EXPECT_EQ(contents("set_event"), "");
}

TEST_F(TreeClientTest, WhatIsToBeWrittenAtTheEndIsWrittenWhenTheConnectionEnds) {
  ASSERT_TRUE(tree_.open("dynamic_events", O_WRONLY));
  {
    auto other = ipc::TreeClient::connect(server_->path());
    EXPECT_EQ(other->write_at_end("u:none\n").error().code, EBADF);
    for (const char* text : {"u:kept\n", "u:forgotten\n"}) {
      ASSERT_TRUE(other->open("dynamic_events", O_WRONLY));
      ASSERT_TRUE(other->write_at_end(text));
    }
    EXPECT_EQ(other->write_once("u:none\n").error().code, EBADF);
    other->forget_at_end("u:forgotten\n");
    ASSERT_TRUE(wait_for_server(server_->path()));
    EXPECT_EQ(contents("dynamic_events"), "");
  }
  ASSERT_TRUE(wait_for_server(server_->path()));
  EXPECT_EQ(contents("dynamic_events"), "u:kept\n");
}

TEST_F(TreeClientTest, AFolderThatIsToGoAtTheEndGoesWhenTheConnectionEnds) {
  {
    auto other = ipc::TreeClient::connect(server_->path());
    EXPECT_EQ(other->remove_folder_at_end("instances/none").error().code, ENOENT);
    EXPECT_EQ(other->remove_folder_at_end("set_event").error().code, ENOTDIR);
    for (const char* path : {"instances/goes", "instances/stays"}) {
      ASSERT_TRUE(other->make_folder(path));
      ASSERT_TRUE(other->remove_folder_at_end(path));
    }
    other->forget_at_end("instances/stays");
    ASSERT_TRUE(wait_for_server(server_->path()));
    EXPECT_TRUE(tree_.stat("instances/goes"));
  }
  ASSERT_TRUE(wait_for_server(server_->path()));
  EXPECT_EQ(tree_.stat("instances/goes").error().code, ENOENT);
  EXPECT_TRUE(tree_.stat("instances/stays"));
}

TEST_F(TreeClientTest, ReadsAndListsMoreThanOneAnswerHolds) {
  std::string definitions;
  constexpr int kEvents = 3000;
  for (int i = 0; i < kEvents; ++i)
    definitions += "u:an_event_with_quite_a_long_name_" + std::to_string(i) + " u32 n\n";
  for (std::string_view rest = definitions; !rest.empty();) {  // whole lines, as a shell would
    const std::size_t size = rest.substr(0, 4000).rfind('\n') + 1;
    ASSERT_TRUE(tree_.open("dynamic_events", O_WRONLY));
    ASSERT_TRUE(tree_.write(rest.substr(0, size)));
    rest.remove_prefix(size);
  }
  EXPECT_EQ(contents("dynamic_events"), definitions);
  const auto entries = tree_.list("events/user_events");
  ASSERT_TRUE(entries);
  EXPECT_EQ(entries->size(), kEvents + 2u);
  EXPECT_TRUE(entries->back().is_folder());
}

TEST_F(TreeClientTest, SaysWhatAMountWouldSay) {
  EXPECT_EQ(tree_.open("nosuch", O_RDONLY).error().code, ENOENT);
  EXPECT_EQ(tree_.list("README").error().code, ENOTDIR);
  EXPECT_EQ(tree_.make_folder("foo").error().code, EPERM);
  EXPECT_TRUE(tree_.make_folder("instances/foo"));
  EXPECT_EQ(tree_.remove_folder("instances/bar").error().code, ENOENT);
  EXPECT_TRUE(tree_.stat("instances/foo")->is_folder());
  EXPECT_EQ(tree_.stat("set_event")->mode, 0100640u);
}

TEST_F(TreeClientTest, AFileStaysOpenForAsLongAsTheConnection) {
  ASSERT_TRUE(tree_.make_folder("instances/foo"));
  {
    auto other = *ipc::TreeClient::connect(server_->path());
    ASSERT_TRUE(other.open("instances/foo/set_event", O_RDONLY));
    EXPECT_EQ(tree_.remove_folder("instances/foo").error().code, EBUSY);
  }
  for (int i = 0; i < 500; ++i) {
    if (tree_.remove_folder("instances/foo")) return;
    ::usleep(1000);
  }
  FAIL() << "the file outlived its connection";
}

TEST_F(TreeClientTest, AClosedFileKeepsNoInstance) {
  ASSERT_TRUE(tree_.make_folder("instances/foo"));
  ASSERT_TRUE(tree_.open("instances/foo/set_event", O_RDONLY));
  EXPECT_EQ(tree_.remove_folder("instances/foo").error().code, EBUSY);
  tree_.close();
  EXPECT_EQ(tree_.read().error().code, EBADF);
  EXPECT_TRUE(tree_.remove_folder("instances/foo"));
}

TEST_F(TreeClientTest, OneWriteIsTakenOrRefusedWithItsPlace) {
  ASSERT_TRUE(tree_.open("dynamic_events", O_WRONLY));
  ASSERT_TRUE(tree_.write("u:e1 u32 n"));
  ASSERT_TRUE(tree_.open("events/user_events/e1/filter", O_WRONLY));
  EXPECT_EQ(tree_.write_once("n == x").error().code, EINVAL);
  EXPECT_EQ(tree_.refused_at(), 5u);
  EXPECT_EQ(tree_.write_once("n == 5"), 6u);
  EXPECT_EQ(tree_.refused_at(), std::nullopt);
  EXPECT_EQ(tree_.write_once(std::string(ipc::kMaxText + 1, 'x')).error().code, E2BIG);
}

TEST_F(TreeClientTest, AnotherFileIsReadFromItsBeginning) {
  const std::string readme = contents("README");
  ASSERT_TRUE(tree_.open("trace_clock", O_RDONLY));
  EXPECT_NE(*tree_.read(), "");
  ASSERT_TRUE(tree_.open("README", O_RDONLY));
  EXPECT_EQ(*tree_.read(), readme);
}

}  // namespace
}  // namespace landtrace::host
