#include "cli/signals.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace landtrace::cli {
namespace {

// Runs in a process of its own: the dispositions and the mask are the process's. Its exit status is what `work` says.
template <typename Work>
int in_child(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

int next(Signals& signals, int timeout_ms = 5000) {
  const auto arrived = signals.wait(timeout_ms);
  return arrived ? arrived->number : 0;
}

TEST(SignalsTest, ThatEndARecordingAreWaitedForInsteadOfKilling) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) {
    EXPECT_EQ(in_child([&] {
                auto signals = Signals::take();
                ::kill(::getpid(), number);
                return next(*signals);
              }),
              number);
  }
}

TEST(SignalsTest, OthersKillAsEver) {
  EXPECT_EQ(in_child([] {
              auto signals = Signals::take();
              ::kill(::getpid(), SIGUSR1);
              return next(*signals, 0);
            }),
            1000 + SIGUSR1);
}

TEST(SignalsTest, WithoutOneTheWaitEnds) {
  EXPECT_EQ(in_child([] {
              auto signals = Signals::take();
              return next(*signals, 0) == 0 && next(*signals, 1) == 0 ? 0 : 1;
            }),
            0);
}

TEST(SignalsTest, OfAnotherProcessIsNotOfTheTerminal) {
  EXPECT_EQ(in_child([] {
              auto signals = Signals::take();
              ::kill(::getpid(), SIGINT);
              const auto arrived = signals->wait(5000);
              return arrived && !arrived->from_terminal ? 0 : 1;
            }),
            0);
}

TEST(SignalsTest, AHangupThatWasIgnoredStaysIgnored) {
  EXPECT_EQ(in_child([] {
              ::signal(SIGHUP, SIG_IGN);  // nohup(1)
              auto signals = Signals::take();
              ::kill(::getpid(), SIGHUP);
              return next(*signals, 0);
            }),
            0);
}

TEST(SignalsTest, ABrokenPipeKillsNobodyAndIsNotInherited) {
  EXPECT_EQ(in_child([] {
              std::signal(SIGPIPE, SIG_DFL);  // whatever an earlier test left
              auto signals = Signals::take();
              ::raise(SIGPIPE);
              struct sigaction action {};
              ::sigaction(SIGPIPE, nullptr, &action);
              return action.sa_handler == SIG_IGN ? 1 : 0;  // that would go to CMD
            }),
            0);
}

TEST(SignalsTest, TheMaskFromBeforeIsKept) {
  EXPECT_EQ(in_child([] {
              sigset_t mask;
              sigemptyset(&mask);
              sigaddset(&mask, SIGUSR2);
              ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
              auto signals = Signals::take();
              const sigset_t& before = signals->mask_before();
              return sigismember(&before, SIGUSR2) == 1 && sigismember(&before, SIGTERM) == 0 ? 0 : 1;
            }),
            0);
}

TEST(SignalsTest, TheWaitEndsWhenTheOtherDescriptorHasAnError) {
  EXPECT_EQ(in_child([] {
              auto signals = Signals::take();
              int ends[2];
              if (::pipe2(ends, O_CLOEXEC) != 0) return 1;
              ::close(ends[0]);  // the writer has POLLERR from here on
              return signals->wait(Signals::kForEver, ends[1]) ? 1 : 0;
            }),
            0);
}

}  // namespace
}  // namespace landtrace::cli
