#include "cli/pager.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace landtrace::cli {
namespace {

std::string pager_command() {
  const char* const named = std::getenv("PAGER");
  std::string command = named != nullptr ? named : "less";
  return command == "cat" ? "" : command;
}

// In the child: `input` is its standard input. It ends with 127 where there is no such program, having shown the text
// as it is.
[[noreturn]] void run_pager(const std::string& command, int input) {
  ::dup2(input, STDIN_FILENO);
  // As git has it: short texts without waiting for a key, colours as they are, no clearing of the screen.
  ::setenv("LESS", "FRX", 0);
  std::signal(SIGPIPE, SIG_DFL);
  const std::string line = "if command -v " + command.substr(0, command.find(' ')) + " >/dev/null 2>&1; then exec " +
                           command + "; else exec cat; fi";
  ::execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
  ::_exit(127);
}

}  // namespace

Pager::Pager() {
  const std::string command = pager_command();
  int ends[2];
  if (command.empty() || ::isatty(STDOUT_FILENO) == 0 || ::pipe2(ends, O_CLOEXEC) != 0) return;
  pid_ = ::fork();
  if (pid_ == 0) run_pager(command, ends[0]);
  ::close(ends[0]);
  if (pid_ > 0) {
    terminal_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    ::dup2(ends[1], STDOUT_FILENO);
    // ^C is the pager's: it may end a search in there.
    std::signal(SIGINT, SIG_IGN);
  }
  ::close(ends[1]);
}

Pager::~Pager() {
  if (pid_ <= 0) return;
  ::dup2(terminal_, STDOUT_FILENO);
  ::close(terminal_);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void survive_closed_output() { std::signal(SIGPIPE, SIG_IGN); }

}  // namespace landtrace::cli
