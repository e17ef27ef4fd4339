#include "daemon/background.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace landtrace::daemon {
namespace {

[[noreturn]] void wait_for(pid_t child, Fd ready) {
  char byte;
  ssize_t n;
  while ((n = ::read(ready.get(), &byte, 1)) < 0 && errno == EINTR) {
  }
  // No byte: the pipe's other end was closed, since the child has ended before it was ready.
  if (n == 1) ::_exit(0);
  int status = 0;
  ::waitpid(child, &status, 0);
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

}  // namespace

Result<Background> Background::enter() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("pipe");
  Fd reader(ends[0]), writer(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return fail_errno("fork");
  if (child > 0) {
    writer.reset();
    wait_for(child, std::move(reader));
  }
  ::setsid();
  return Background(std::move(writer));
}

void Background::ready() {
  const Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd = 0; fd <= 2; ++fd) ::dup2(nothing.get(), fd);
  std::ignore = ::chdir("/");
  std::ignore = ::write(ready_.get(), "", 1);
  ready_.reset();
}

}  // namespace landtrace::daemon
