#include "cli/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_end.hpp"
#include "base/fd.hpp"
#include "cli/environment.hpp"

namespace landtrace::cli {
namespace {

constexpr int kSignalBase = 128;

tl::unexpected<Error> cannot_run(const std::vector<std::string>& command, int code) {
  return fail_errno("cannot run '" + command[0] + "'", code);
}

constexpr int kStandard[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};

bool goes_nowhere(int fd, Child::Output output) {
  return output == Child::Output::kDropped || (output == Child::Output::kNowhere && ::isatty(fd) == 1);
}

void redirect(Child::Output output) {
  for (const int fd : kStandard) {
    if (!goes_nowhere(fd, output)) continue;
    const int nowhere = ::open("/dev/null", O_RDWR);  // that very one, where it was closed
    ::dup2(nowhere, fd);
    if (nowhere > STDERR_FILENO) ::close(nowhere);
  }
  if (output == Child::Output::kErrors) ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

// In the child. Does not return.
void run_bound(const std::vector<char*>& argv, const std::vector<char*>& envp, pid_t starter, int failure) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() == starter) ::execvpe(argv[0], argv.data(), envp.data());
  const int code = errno;
  std::ignore = ::write(failure, &code, sizeof code);
  ::_exit(1);
}

}  // namespace

Result<Child> Child::start(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                           const sigset_t& mask, Output output) {
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int fd : kStandard) {
    if (goes_nowhere(fd, output)) ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  if (output == Output::kErrors) ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  const std::vector<char*> argv = exec_array(command);
  const std::vector<char*> envp = exec_array(environment);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), envp.data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return cannot_run(command, error);
  return Child(pid);
}

Result<Child> Child::start_bound(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                                 const sigset_t& mask, Output output) {
  const std::vector<char*> argv = exec_array(command);
  const std::vector<char*> envp = exec_array(environment);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return cannot_run(command, errno);
  const Fd failed(ends[0]);
  Fd failure(ends[1]);
  const pid_t starter = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return cannot_run(command, errno);
  if (pid == 0) {
    ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    const int other = ::fcntl(failure.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    redirect(output);
    run_bound(argv, envp, starter, other);
  }
  failure.reset();
  int code = 0;
  if (::read(failed.get(), &code, sizeof code) != static_cast<ssize_t>(sizeof code)) return Child(pid);
  landtrace::wait_for_end(pid);
  return cannot_run(command, code);
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
