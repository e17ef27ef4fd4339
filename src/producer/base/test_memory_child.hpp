// A child that has the memory of its parent and runs in the place of the calling thread, as those of posix_spawn() do.
#pragma once

#include <sched.h>
#include <sys/wait.h>

#include <csignal>
#include <vector>

namespace landtrace {

// True if the body, which runs in the child and must return, says so.
template <typename Body>
bool run_in_memory_child(const Body& body) {
  constexpr std::size_t kStack = 256 << 10;
  std::vector<char> stack(kStack);
  const auto run = [](void* what) { return (*static_cast<const Body*>(what))() ? 0 : 1; };
  const pid_t child = ::clone(run, stack.data() + stack.size() - 64, CLONE_VM | CLONE_VFORK | SIGCHLD,
                              const_cast<void*>(static_cast<const void*>(&body)));
  int status = -1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace landtrace
