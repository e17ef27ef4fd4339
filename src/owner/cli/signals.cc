#include "cli/signals.hpp"

#include <poll.h>
#include <sys/signalfd.h>

namespace landtrace::cli {
namespace {

bool is_ignored(int number) {
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void survive_file_limit() {
  struct sigaction nothing {};
  nothing.sa_handler = [](int) {};
  nothing.sa_flags = SA_RESTART;
  ::sigaction(SIGXFSZ, &nothing, nullptr);
}

Result<Signals> Signals::take() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int number : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&wanted, number);
  if (!is_ignored(SIGHUP)) sigaddset(&wanted, SIGHUP);  // nohup(1)
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &wanted, &before);
  // A handler instead of SIG_IGN, because CMD would inherit SIG_IGN.
  struct sigaction nothing {};
  nothing.sa_handler = [](int) {};
  if (!is_ignored(SIGPIPE)) ::sigaction(SIGPIPE, &nothing, nullptr);
  Fd fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return fail_errno("signalfd");
  return Signals(std::move(fd), before);
}

std::optional<Signals::Arrived> Signals::wait(int timeout_ms, int other) {
  pollfd poll_fds[] = {{fd_.get(), POLLIN, 0}, {other, 0, 0}};
  if (timeout_ms != 0) ::poll(poll_fds, 2, timeout_ms);
  signalfd_siginfo info;
  if (::read(fd_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return Arrived{static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
}

}  // namespace landtrace::cli
