#include "cli/child.hpp"

#include <spawn.h>
#include <sys/wait.h>

#include "cli/environment.hpp"

namespace landtrace::cli {
namespace {

constexpr int kSignalBase = 128;

}  // namespace

Result<Child> Child::start(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                           const sigset_t& mask) {
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const std::vector<char*> argv = exec_array(command);
  const std::vector<char*> envp = exec_array(environment);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, argv[0], nullptr, &attributes, argv.data(), envp.data());
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return fail_errno("cannot run '" + command[0] + "'", error);
  return Child(pid);
}

bool Child::has_ended() {
  if (ended_) return true;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
  ended_ = true;
  exit_status_ = WIFSIGNALED(status) ? kSignalBase + WTERMSIG(status) : WEXITSTATUS(status);
  return true;
}

void Child::send(int signal) const {
  if (!ended_) ::kill(pid_, signal);
}

}  // namespace landtrace::cli
