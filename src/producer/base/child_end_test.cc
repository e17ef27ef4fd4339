#include "base/child_end.hpp"

#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

namespace landtrace {
namespace {

pid_t started(int status) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (status < 0) ::pause();
    ::_exit(status);
  }
  return child;
}

TEST(ChildEndTest, ItsStatusIsThatOfWaitpid) {
  const auto status = wait_for_end(started(7));
  ASSERT_TRUE(status);
  EXPECT_TRUE(WIFEXITED(*status));
  EXPECT_EQ(WEXITSTATUS(*status), 7);
}

TEST(ChildEndTest, IsLookedForWithoutWaiting) {
  const pid_t child = started(-1);
  EXPECT_FALSE(status_at_end(child));
  ::kill(child, SIGKILL);
  const auto status = wait_for_end(child);
  ASSERT_TRUE(status);
  EXPECT_TRUE(WIFSIGNALED(*status));
  EXPECT_EQ(WTERMSIG(*status), SIGKILL);
  EXPECT_FALSE(status_at_end(child)) << "it is no child any more";
  EXPECT_FALSE(wait_for_end(child));
}

TEST(ChildEndTest, StopsAreLeftToAThreadThatTraces) {
  const pid_t child = started(-1);
  std::atomic<bool> is_stopped = false, goes_on = false;
  std::thread tracer([&] {
    EXPECT_EQ(::ptrace(PTRACE_SEIZE, child, nullptr, nullptr), 0);
    EXPECT_EQ(::ptrace(PTRACE_INTERRUPT, child, nullptr, nullptr), 0);
    siginfo_t seen{};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(child), &seen, WSTOPPED | WNOWAIT | __WALL), 0);
    is_stopped = true;
    while (!goes_on) ::usleep(1000);
    EXPECT_EQ(::waitpid(child, nullptr, __WALL | WNOHANG), child) << "the stop is still to be had";
    EXPECT_EQ(::ptrace(PTRACE_DETACH, child, nullptr, nullptr), 0);
    ::kill(child, SIGTERM);
  });
  while (!is_stopped) ::usleep(1000);
  EXPECT_FALSE(status_at_end(child));
  std::thread waiting([&] {
    const auto status = wait_for_end(child);
    ASSERT_TRUE(status);
    EXPECT_TRUE(WIFSIGNALED(*status));
    EXPECT_EQ(WTERMSIG(*status), SIGTERM);
  });
  ::usleep(20'000);  // it finds the stop
  goes_on = true;
  tracer.join();
  waiting.join();
}

}  // namespace
}  // namespace landtrace
