// A program of these tests in a process of its own.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.hpp"

namespace landtrace {

using Environment = std::vector<std::pair<std::string, std::string>>;

// A program in a child that goes to the domain at `socket`, its standard input and output in pipes.
class ClientProcess {
 public:
  ClientProcess(const char* program, const std::string& socket, const char* mode, const Environment& environment = {}) {
    int in[2];
    int out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      ::setenv("LANDTRACE_SOCKET", socket.c_str(), 1);
      for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
      ::execl(program, program, mode, nullptr);
      ::_exit(98);
    }
    ::close(in[0]);
    ::close(out[1]);
    in_ = Fd(in[1]);
    out_ = Fd(out[0]);
  }
  ~ClientProcess() {
    if (pid_ > 0) ::kill(pid_, SIGKILL), ::waitpid(pid_, nullptr, 0);
  }
  ClientProcess(const ClientProcess&) = delete;
  ClientProcess& operator=(const ClientProcess&) = delete;

  std::string line() {
    std::string text;
    char byte;
    while (::read(out_.get(), &byte, 1) == 1 && byte != '\n') text += byte;
    return text;
  }
  void go_on() { ASSERT_EQ(::write(in_.get(), "\n", 1), 1); }
  void kill() { ::kill(pid_, SIGKILL); }
  int wait() {
    int status = -1;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_ = -1;
  Fd in_;
  Fd out_;
};

}  // namespace landtrace
