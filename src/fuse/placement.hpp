// Where the thread runs that records the events of other programs. Such a program waits for us, and we for it: on two
// CPUs, each write would wake both of them from their sleep, which takes several times as long as the work. So the thread
// follows the program that writes to its CPU. The scheduler, which knows nothing of this, would spread them.
#pragma once

#include <sched.h>

#include <cstdint>

namespace landtrace::fuse {

class Placement {
 public:
  // The calling thread's CPUs are those that may be used.
  Placement();

  // This thread has served `client`, a thread of another program. Looks now and then where that is.
  void follow(std::uint32_t client);
  // Lets a thread run wherever it may.
  void release(int thread) const;

 private:
  static constexpr unsigned kServedBetweenLooks = 32;
  cpu_set_t allowed_;
  unsigned served_ = 0;
};

}  // namespace landtrace::fuse
