// On which CPU a thread ran last. Of one that waits in a system call, that is where it made the call.
//
// What a question costs: 0.3 µs for a thread that may run on one CPU only, 4 µs for others (a read of /proc), and 10 µs
// the first time, or when more threads take turns than are kept.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/fd.hpp"

namespace landtrace::programs {

// For one thread at a time.
class ThreadCpus {
 public:
  // The CPU that the calling thread runs on where that cannot be found out: the thread has ended, is in another pid
  // namespace (tid 0), is hidden.
  std::uint32_t last_cpu_of(std::uint32_t tid);

 private:
  struct Known {
    std::uint32_t tid = 0;
    Fd stat;  // /proc/TID/task/TID/stat; it stays that thread's, also when its id is given to another one
  };
  std::optional<std::uint32_t> ask_proc(std::uint32_t tid);

  // By the number of the thread.
  std::array<Known, 16> known_{};
};

}  // namespace landtrace::programs
