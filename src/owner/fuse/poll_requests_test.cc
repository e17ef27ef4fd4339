#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/wait.h>

#include <atomic>

#include "fuse/test_mount.hpp"

namespace landtrace::fuse::test {
namespace {

using Clock = std::chrono::steady_clock;

class MountedReaders : public MountTest {
 protected:
  void SetUp() override {
    MountTest::SetUp();
    if (!folder_.empty()) serve();
  }
  void push(const std::string& line) {
    change([&] { tree_->pipe->lines.push_back(line); });
  }
  // Pushes a moment from now, from another thread.
  std::thread push_soon(const std::string& line) {
    return std::thread([this, line] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      push(line);
    });
  }
  int looks() {
    return change([&] { return tree_->pipe->looks; });
  }
};

TEST_F(MountedReaders, GetWhatIsThereAndElseEagainIfTheyDoNotWait) {
  const Fd file = open("pipe", O_RDONLY | O_NONBLOCK);
  push("one");
  EXPECT_EQ(read_some(file.get()), "one");
  EXPECT_EQ(read_some(file.get()), "errno: " + errno_text(EAGAIN));
  const Fd later = open("pipe", O_RDONLY);
  ASSERT_EQ(::fcntl(later.get(), F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(read_some(later.get()), "errno: " + errno_text(EAGAIN));
  EXPECT_EQ(::lseek(later.get(), 0, SEEK_SET), -1);
  EXPECT_EQ(errno, ESPIPE);
}

TEST_F(MountedReaders, WaitForSomethingToRead) {
  const Fd file = open("pipe", O_RDONLY);
  std::thread pusher = push_soon("late");
  EXPECT_EQ(read_some(file.get()), "late");
  pusher.join();
}

TEST_F(MountedReaders, ManyWaitAtOnceWithoutKeepingOthersFromAnything) {
  std::vector<std::thread> readers;
  std::atomic<int> got{0};
  for (int i = 0; i < 20; ++i) {
    readers.emplace_back([&] {
      const Fd file = open("pipe", O_RDONLY);
      if (read_some(file.get()) == "x") ++got;
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  const Fd other = open("notebook", O_WRONLY);
  EXPECT_EQ(write_some(other.get(), "y"), 0);
  for (int i = 0; i < 20; ++i) push("x");
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(got, 20);
}

TEST_F(MountedReaders, AreInterruptedBySignals) {
  const Fd file = open("pipe", O_RDONLY);
  struct sigaction action {};
  action.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &action, nullptr);
  const itimerval soon{{0, 20000}, {0, 50000}};
  ::setitimer(ITIMER_REAL, &soon, nullptr);
  EXPECT_EQ(read_some(file.get()), "errno: " + errno_text(EINTR));
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  push("one");
  EXPECT_EQ(read_some(file.get()), "one") << "nothing was lost to the read that was interrupted";
}

TEST_F(MountedReaders, CanBeKilledWhileTheyWait) {
  for (int i = 0; i < 20; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const Fd file = open("pipe", O_RDONLY);
      read_some(file.get());
      ::_exit(0);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(i));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
  }
  push("one");
  const Fd file = open("pipe", O_RDONLY);
  EXPECT_EQ(read_some(file.get()), "one");
}

TEST_F(MountedReaders, CostNothingWhenNobodyWaits) {
  const Fd file = open("pipe", O_RDONLY);
  std::thread pusher = push_soon("late");
  EXPECT_EQ(read_some(file.get()), "late");
  pusher.join();
  pollfd ready{file.get(), POLLIN, 0};
  push("more");
  EXPECT_EQ(::poll(&ready, 1, 0), 1);
  ASSERT_TRUE(becomes_true([&] {
    const int before = looks();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return looks() == before;
  }));
}

TEST_F(MountedReaders, PollAndSelectTellWhenThereIsSomething) {
  const Fd file = open("pipe", O_RDONLY);
  pollfd ready{file.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&ready, 1, 0), 0);
  EXPECT_EQ(::poll(&ready, 1, 30), 0);
  std::thread pusher = push_soon("one");
  EXPECT_EQ(::poll(&ready, 1, 20000), 1);
  EXPECT_NE(ready.revents & POLLIN, 0);
  pusher.join();
  EXPECT_EQ(read_some(file.get()), "one");

  pusher = push_soon("two");
  fd_set set;
  FD_ZERO(&set);
  FD_SET(file.get(), &set);
  EXPECT_EQ(::select(file.get() + 1, &set, nullptr, nullptr, nullptr), 1);
  EXPECT_TRUE(FD_ISSET(file.get(), &set));
  pusher.join();
  EXPECT_EQ(read_some(file.get()), "two");
}

TEST_F(MountedReaders, EpollTellsForAsLongAsThereIsSomething) {
  const Fd file = open("pipe", O_RDONLY | O_NONBLOCK);
  const Fd poll(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{EPOLLIN, {}};
  ASSERT_EQ(::epoll_ctl(poll.get(), EPOLL_CTL_ADD, file.get(), &event), 0);
  epoll_event got{};
  EXPECT_EQ(::epoll_wait(poll.get(), &got, 1, 30), 0);
  for (int i = 0; i < 3; ++i) {
    std::thread pusher = push_soon("one");
    EXPECT_EQ(::epoll_wait(poll.get(), &got, 1, 20000), 1);
    EXPECT_EQ(::epoll_wait(poll.get(), &got, 1, 20000), 1) << "not yet read";
    pusher.join();
    EXPECT_EQ(read_some(file.get()), "one");
    EXPECT_EQ(::epoll_wait(poll.get(), &got, 1, 0), 0);
  }
}

TEST_F(MountedReaders, EpollTellsOfEachChangeOnceWhereOnlyChangesAreWanted) {
  const Fd file = open("pipe", O_RDONLY | O_NONBLOCK);
  const Fd poll(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{EPOLLIN | EPOLLET, {}};
  ASSERT_EQ(::epoll_ctl(poll.get(), EPOLL_CTL_ADD, file.get(), &event), 0);
  epoll_event got{};
  for (int i = 0; i < 50; ++i) {
    push("one");  // also before the last round's end was noticed
    ASSERT_EQ(::epoll_wait(poll.get(), &got, 1, 20000), 1) << i;
    EXPECT_EQ(::epoll_wait(poll.get(), &got, 1, 0), 0);
    EXPECT_EQ(read_some(file.get()), "one");
    EXPECT_EQ(read_some(file.get()), "errno: " + errno_text(EAGAIN));
  }
}

TEST_F(MountedReaders, PagesAreWaitedForToo) {
  const Fd file = open("raw", O_RDONLY);
  pollfd ready{file.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&ready, 1, 0), 0);
  std::thread pusher([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    change([&] { tree_->raw->pages = 1; });
  });
  EXPECT_EQ(read_some(file.get()).size(), RawPages::kPage);
  pusher.join();
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  EXPECT_EQ(::splice(file.get(), nullptr, ends[1], nullptr, 4096, 0), -1) << "splice() cannot wait";
  EXPECT_EQ(errno, EAGAIN);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(MountedReaders, AllWhoWaitForPagesAreWokenByAnIoctl) {
  const Fd file = open("raw", O_RDONLY);
  constexpr int kReaders = 3;
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&file] {
      char page[RawPages::kPage];
      // Not read(), which lets one after the other read, as a descriptor has one position.
      EXPECT_EQ(::pread(file.get(), page, sizeof page, 0), 0);
    });
  }
  while (change([&] { return tree_->raw->reads; }) < kReaders) ::usleep(1000);
  EXPECT_EQ(::ioctl(file.get(), 0, 0), 1);
  for (std::thread& reader : readers) reader.join();

  std::thread late([&file] { EXPECT_EQ(read_some(file.get()).size(), RawPages::kPage); });
  while (change([&] { return tree_->raw->reads; }) < 2 * kReaders + 1) ::usleep(1000);
  change([&] { tree_->raw->pages = 1; });
  late.join();
}

}  // namespace
}  // namespace landtrace::fuse::test
