#include "fleet/serving/end_signals.hpp"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace landtrace::fleet {

Result<Fd> end_signals() {
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&ends, number);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  Fd stop(::signalfd(-1, &ends, SFD_CLOEXEC));
  if (!stop) return fail_errno("signalfd");
  return stop;
}

void end_program(int status) {
  std::fflush(nullptr);
  ::_exit(status);
}

}  // namespace landtrace::fleet
