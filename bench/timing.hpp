// CPU time of the calling thread: what others do on a shared machine is not in it.
#pragma once

#include <cstdint>
#include <ctime>

namespace landtrace::bench {

inline std::uint64_t thread_cpu_ns() {
  timespec now;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace landtrace::bench
