#include "cli/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

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

// A thread of this process may trace it for a moment, as the owner of a domain does that brings the agent into it. The
// stops that the system tells then are that thread's, also where nobody has asked for stops: they are left to it.
bool Child::has_ended() {
  if (ended_) return true;
  siginfo_t seen{};
  const bool is_told = ::waitid(P_PID, static_cast<id_t>(pid_), &seen, WEXITED | WNOHANG | WNOWAIT) == 0;
  if (!is_told || seen.si_pid != pid_) return false;
  const bool was_killed = seen.si_code == CLD_KILLED || seen.si_code == CLD_DUMPED;
  if (seen.si_code != CLD_EXITED && !was_killed) return false;
  ::waitpid(pid_, nullptr, WNOHANG);
  ended_ = true;
  exit_status_ = was_killed ? kSignalBase + seen.si_status : seen.si_status;
  return true;
}

void Child::send(int signal) const {
  if (!ended_) ::kill(pid_, signal);
}

}  // namespace landtrace::cli
