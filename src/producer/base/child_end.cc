#include "base/child_end.hpp"

#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace landtrace {
namespace {

// waitid()'s answer; si_code is 0 where it has none.
siginfo_t seen_of(pid_t child, int flags) {
  siginfo_t seen{};
  while (::waitid(P_PID, static_cast<id_t>(child), &seen, WEXITED | WNOWAIT | flags) != 0) {
    if (errno != EINTR) return {};
  }
  return seen;
}

bool is_end(const siginfo_t& seen) {
  return seen.si_code == CLD_EXITED || seen.si_code == CLD_KILLED || seen.si_code == CLD_DUMPED;
}

std::optional<int> taken(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, WNOHANG) != child) return std::nullopt;
  return status;
}

}  // namespace

std::optional<int> status_at_end(pid_t child) {
  if (!is_end(seen_of(child, WNOHANG))) return std::nullopt;
  return taken(child);
}

std::optional<int> wait_for_end(pid_t child) {
  constexpr std::chrono::milliseconds kStop{1};  // until its tracer has taken it
  for (;;) {
    const siginfo_t seen = seen_of(child, 0);
    if (seen.si_code == 0) return std::nullopt;
    if (is_end(seen)) return taken(child);
    std::this_thread::sleep_for(kStop);
  }
}

}  // namespace landtrace
