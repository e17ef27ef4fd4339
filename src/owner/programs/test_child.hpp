// A forked child of the test, which waits until it is killed.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "base/fd.hpp"

namespace landtrace::programs {

// For the child of a root: goes on as that user, like a program that this user has started.
inline void become_user(std::uint32_t id) {
  if (::setgid(id) != 0 || ::setuid(id) != 0 || ::prctl(PR_SET_DUMPABLE, 1) != 0) ::_exit(91);
}

class TestChild {
 public:
  // Returns when the child has done what is to be `first`.
  explicit TestChild(const std::function<void()>& first = {}) {
    int ready[2];
    EXPECT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      if (first) first();
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // only now: a change of the user forgets it
      const char byte = 'x';
      if (::write(ready[1], &byte, 1) != 1) ::_exit(90);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char byte;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1) << "the child has not come so far";
    ::close(ready[0]);
  }
  ~TestChild() { end(); }
  TestChild(const TestChild&) = delete;
  TestChild& operator=(const TestChild&) = delete;

  [[nodiscard]] std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
};

}  // namespace landtrace::programs
