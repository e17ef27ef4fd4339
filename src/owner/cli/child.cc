#include "cli/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_end.hpp"
#include "cli/environment.hpp"

namespace landtrace::cli {
namespace {

constexpr int kSignalBase = 128;

}  // namespace

Result<Child> Child::start(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                           const sigset_t& mask, Output output) {
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (output == Output::kNowhere || output == Output::kDropped) {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      if (output == Output::kDropped || ::isatty(fd) == 1) {
        ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
      }
    }
  }
  if (output == Output::kErrors) ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  const std::vector<char*> argv = exec_array(command);
  const std::vector<char*> envp = exec_array(environment);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), envp.data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail_errno("cannot run '" + command[0] + "'", error);
  return Child(pid);
}

bool Child::has_ended() {
  if (ended_) return true;
  const auto status = status_at_end(pid_);
  if (!status) return false;
  ended_ = true;
  exit_status_ = WIFEXITED(*status) ? WEXITSTATUS(*status) : kSignalBase + WTERMSIG(*status);
  return true;
}

void Child::send(int signal) const {
  if (!ended_) ::kill(pid_, signal);
}

}  // namespace landtrace::cli
