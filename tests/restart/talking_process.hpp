// A child that is talked to by lines.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.hpp"

namespace landtrace {

class TalkingProcess {
 public:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  explicit TalkingProcess(std::vector<std::string> arguments, const Environment& environment = {}) {
    int in[2];
    int out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
      std::vector<char*> argv;
      for (std::string& argument : arguments) argv.push_back(argument.data());
      argv.push_back(nullptr);
      ::execv(argv[0], argv.data());
      ::_exit(98);
    }
    ::close(in[0]);
    ::close(out[1]);
    in_ = Fd(in[1]);
    out_ = Fd(out[0]);
  }
  ~TalkingProcess() { kill(); }
  TalkingProcess(const TalkingProcess&) = delete;
  TalkingProcess& operator=(const TalkingProcess&) = delete;

  void say(const std::string& text) { std::ignore = write_all(in_.get(), (text + "\n").data(), text.size() + 1); }
  // Empty at the end.
  std::string line() {
    std::string text;
    char byte;
    while (::read(out_.get(), &byte, 1) == 1 && byte != '\n') text += byte;
    return text;
  }
  std::string ask(const std::string& text) {
    say(text);
    return line();
  }
  void hang_up() { in_.reset(); }
  // The exit code, or 128 and the signal.
  int wait() {
    int status = -1;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  void kill() {
    if (pid_ > 0) ::kill(pid_, SIGKILL), wait();
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  Fd in_;
  Fd out_;
};

}  // namespace landtrace
