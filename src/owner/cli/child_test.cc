#include "cli/child.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/fd.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {
namespace {

class ChildTest : public testing::Test {
 protected:
  ChildTest() { ::pthread_sigmask(SIG_BLOCK, nullptr, &mask_); }

  Result<Child> start(const std::vector<std::string>& command, const std::vector<std::string>& environment = {}) {
    return Child::start(command, environment, mask_);
  }
  static int status_of(Child child) {
    while (!child.has_ended()) ::usleep(1000);
    return child.exit_status();
  }

  sigset_t mask_;
};

TEST_F(ChildTest, ItsExitStatusIsKnownWhenItHasEnded) {
  EXPECT_EQ(status_of(*start({"/bin/sh", "-c", "exit 0"})), 0);
  EXPECT_EQ(status_of(*start({"/bin/sh", "-c", "exit 7"})), 7);
}

TEST_F(ChildTest, ASignalThatKilledItIsItsStatus) {
  EXPECT_EQ(status_of(*start({"/bin/sh", "-c", "kill -9 $$"})), 128 + 9);
}

TEST_F(ChildTest, ASignalIsSentToIt) {
  auto child = start({"/bin/sleep", "1000"});
  ASSERT_TRUE(child);
  EXPECT_FALSE(child->has_ended());
  child->send(SIGTERM);
  EXPECT_EQ(status_of(*child), 128 + SIGTERM);
}

TEST_F(ChildTest, NothingIsSentToWhatHasEnded) {
  auto child = start({"/bin/sh", "-c", "exit 3"});
  ASSERT_TRUE(child);
  while (!child->has_ended()) ::usleep(1000);
  child->send(SIGKILL);  // its pid may be anybody's
  EXPECT_TRUE(child->has_ended());
  EXPECT_EQ(child->exit_status(), 3);
}

// As the owner of a domain does that brings the agent of probes into it.
TEST_F(ChildTest, AThreadOfThisProcessMayStopIt) {
  const output::TempDir folder;
  const std::string file = folder.file("pid");
  auto child = start({"/bin/sh", "-c", "echo $$ >" + file + ".new; mv " + file + ".new " + file + "; exec sleep 1000"});
  ASSERT_TRUE(child);
  while (::access(file.c_str(), F_OK) != 0) ::usleep(1000);
  const pid_t pid = std::stoi(*read_file(file));
  std::atomic<bool> is_stopped = false, goes_on = false;
  std::thread tracer([&] {
    EXPECT_EQ(::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr), 0);
    EXPECT_EQ(::ptrace(PTRACE_INTERRUPT, pid, nullptr, nullptr), 0);
    siginfo_t seen{};
    while (::waitid(P_PID, static_cast<id_t>(pid), &seen, WSTOPPED | __WALL | WNOWAIT | WNOHANG) == 0 &&
           seen.si_pid == 0) {
      ::usleep(100);
    }
    is_stopped = true;
    while (!goes_on) ::usleep(1000);
    EXPECT_EQ(::waitpid(pid, nullptr, __WALL | WNOHANG), pid) << "the stop is still to be had";
    EXPECT_EQ(::ptrace(PTRACE_DETACH, pid, nullptr, nullptr), 0);
  });
  while (!is_stopped) ::usleep(1000);
  EXPECT_FALSE(child->has_ended());
  EXPECT_FALSE(child->has_ended());
  goes_on = true;
  tracer.join();
  EXPECT_FALSE(child->has_ended());
  child->send(SIGTERM);
  EXPECT_EQ(status_of(*child), 128 + SIGTERM);
}

TEST_F(ChildTest, IsLookedForInThePath) { EXPECT_EQ(status_of(*start({"true"})), 0); }

TEST_F(ChildTest, WhatCannotBeRunIsNamed) {
  const auto missing = start({"no-such-program"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ENOENT);
  EXPECT_NE(missing.error().message.find("'no-such-program'"), std::string::npos);
  EXPECT_EQ(start({"/dev/null"}).error().code, EACCES);
}

TEST_F(ChildTest, OneThatIsBoundEndsWithItsStarterHoweverThatEnds) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd reads(ends[0]);
  Fd writes(ends[1]);
  const pid_t starter = ::fork();
  if (starter == 0) {
    ::dup2(writes.get(), STDOUT_FILENO);
    if (!Child::start_bound({"/bin/sh", "-c", "echo; exec sleep 1000"}, {}, mask_)) ::_exit(1);
    for (;;) ::pause();
  }
  writes.reset();
  char word = 0;
  ASSERT_EQ(::read(reads.get(), &word, 1), 1);
  ::kill(starter, SIGKILL);
  EXPECT_EQ(::read(reads.get(), &word, 1), 0) << "until both have ended";
  EXPECT_EQ(::waitpid(starter, nullptr, 0), starter);
}

TEST_F(ChildTest, OneThatIsBoundIsStartedAsOthers) {
  const auto bound = [this](const std::vector<std::string>& command, Child::Output output = Child::Output::kShared) {
    return Child::start_bound(command, {"A=y"}, mask_, output);
  };
  EXPECT_EQ(status_of(*bound({"true"})), 0);
  EXPECT_EQ(status_of(*bound({"sh", "-c", "test \"$1 $A\" = 'x y' && exit 7", "name", "x"})), 7);
  const char* const nowhere = "test /proc/self/fd/0 -ef /dev/null -a /proc/self/fd/2 -ef /dev/null";
  EXPECT_EQ(status_of(*bound({"sh", "-c", nowhere}, Child::Output::kDropped)), 0);
  EXPECT_EQ(status_of(*bound({"sh", "-c", "test /proc/self/fd/1 -ef /proc/self/fd/2"}, Child::Output::kErrors)), 0);
  EXPECT_EQ(bound({"no-such-program"}).error().code, ENOENT);
  EXPECT_EQ(bound({"/dev/null"}).error().code, EACCES);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "those that failed were waited for";
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  EXPECT_EQ(status_of(*Child::start_bound({"sh", "-c", "kill -TERM $$; exit 5"}, {}, blocked)), 5);
}

TEST_F(ChildTest, HasItsArgumentsAndTheEnvironmentThatWasGiven) {
  ::setenv("LANDTRACE_TEST_UNSEEN", "1", 1);
  const char* const script = "test \"$1 $A\" = 'x y' && test -z \"$LANDTRACE_TEST_UNSEEN\"";
  EXPECT_EQ(status_of(*start({"/bin/sh", "-c", script, "name", "x"}, {"A=y"})), 0);
  ::unsetenv("LANDTRACE_TEST_UNSEEN");
}

TEST_F(ChildTest, HasTheSignalMaskThatWasGiven) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  const std::vector<std::string> killed_by_term{"/bin/sh", "-c", "kill -TERM $$; exit 5"};
  EXPECT_EQ(status_of(*Child::start(killed_by_term, {}, blocked)), 5);
  EXPECT_EQ(status_of(*Child::start(killed_by_term, {}, mask_)), 128 + SIGTERM);
}

}  // namespace
}  // namespace landtrace::cli
