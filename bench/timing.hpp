// CPU time: what others do on a shared machine is not in it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <ctime>

namespace landtrace::bench {

inline std::uint64_t cpu_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

// Of the calling thread.
inline std::uint64_t thread_cpu_ns() { return cpu_ns(CLOCK_THREAD_CPUTIME_ID); }

// Of all threads of a process that is there.
inline std::uint64_t process_cpu_ns(pid_t pid) {
  clockid_t clock{};
  return ::clock_getcpuclockid(pid, &clock) == 0 ? cpu_ns(clock) : 0;
}

}  // namespace landtrace::bench
