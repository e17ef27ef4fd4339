#include "client/socket_watch.hpp"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>

#include "client/fake_owner.hpp"
#include "ipc/socket.hpp"

namespace landtrace::client {
namespace {

class SocketWatchTest : public ClientTest {
 protected:
  // Waits in a thread of its own.
  void wait_for(const std::string& where) {
    where_ = where;
    waiting_ = std::thread([this] {
      found_ = wait_for_owner(where_.c_str());
      is_over_ = true;
    });
    // Now and then it may not be asleep yet: then it meets what happens next before it looks.
    ::usleep(20'000);
  }
  void TearDown() override {
    if (waiting_.joinable()) {
      EXPECT_TRUE(eventually([&] { return is_over_.load(); }));
      waiting_.join();
    }
    if (found_ >= 0) ::close(found_);
    ClientTest::TearDown();
  }
  bool finds() {
    return eventually([&] { return is_over_.load(); }) && found_ >= 0;
  }

  std::string where_;
  std::thread waiting_;
  std::atomic<bool> is_over_ = false;
  std::atomic<int> found_ = -1;
};

TEST_F(SocketWatchTest, OneWhoIsThereIsConnectedTo) {
  FakeOwner owner(path());
  const int fd = connect_to_owner(path().c_str());
  EXPECT_GE(fd, 0);
  ::close(fd);
  const int waited_for = wait_for_owner(path().c_str());
  EXPECT_GE(waited_for, 0);
  ::close(waited_for);
}

TEST_F(SocketWatchTest, WithoutAnOwnerTheErrorIsTheSystems) {
  EXPECT_EQ(connect_to_owner(path().c_str()), -ENOENT);
  std::ofstream(path()) << "no socket";
  EXPECT_EQ(connect_to_owner(path().c_str()), -ECONNREFUSED);
}

TEST_F(SocketWatchTest, AnotherUsersOwnerIsNotTrusted) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: only root can be somebody else";
  FakeOwner stranger(path(), 12'345);
  EXPECT_EQ(connect_to_owner(path().c_str()), -EPERM);
}

TEST_F(SocketWatchTest, OneThatComesIsFound) {
  wait_for(path());
  EXPECT_FALSE(is_over_);
  FakeOwner owner(path());
  EXPECT_TRUE(finds());
}

TEST_F(SocketWatchTest, OneWhoseFolderComesFirstIsFound) {
  const std::string deep = folder() + "/a/b/domain.sock";
  wait_for(deep);
  ASSERT_EQ(::mkdir((folder() + "/a").c_str(), 0755), 0);
  ::usleep(10'000);
  ASSERT_EQ(::mkdir((folder() + "/a/b").c_str(), 0755), 0);
  ::usleep(10'000);
  FakeOwner owner(deep);
  EXPECT_TRUE(finds());
}

TEST_F(SocketWatchTest, OneThatIsMovedToItsPlaceIsFound) {
  FakeOwner owner(folder() + "/elsewhere.sock");
  wait_for(path());
  ASSERT_EQ(std::rename((folder() + "/elsewhere.sock").c_str(), path().c_str()), 0);
  EXPECT_TRUE(finds());
}

TEST_F(SocketWatchTest, OneThatLetsNobodyInAtFirstIsFoundLater) {
  FakeOwner owner(folder() + "/elsewhere.sock");
  wait_for(path());
  for (int i = 0; i < 20; ++i) std::ofstream(folder() + "/nothing" + std::to_string(i));
  EXPECT_FALSE(is_over_);
  ASSERT_EQ(::symlink((folder() + "/elsewhere.sock").c_str(), path().c_str()), 0);
  EXPECT_TRUE(finds());
}

TEST_F(SocketWatchTest, AFolderThatGoesAndComesAgainIsWatchedAgain) {
  const std::string deep = folder() + "/a/domain.sock";
  ASSERT_EQ(::mkdir((folder() + "/a").c_str(), 0755), 0);
  wait_for(deep);
  ASSERT_EQ(::rmdir((folder() + "/a").c_str()), 0);
  ::usleep(10'000);
  ASSERT_EQ(::mkdir((folder() + "/a").c_str(), 0755), 0);
  FakeOwner owner(deep);
  EXPECT_TRUE(finds());
}

TEST_F(SocketWatchTest, AThreadThatWaitsCanBeEnded) {
  pthread_t thread;
  const auto wait = [](void* where) -> void* {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    wait_for_owner(static_cast<const char*>(where));
    return nullptr;
  };
  std::string where = path();
  ASSERT_EQ(pthread_create(&thread, nullptr, wait, where.data()), 0);
  ::usleep(20'000);
  ASSERT_EQ(pthread_cancel(thread), 0);
  void* result = nullptr;
  ASSERT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
}

}  // namespace
}  // namespace landtrace::client
