// System calls without libc, whose functions may be what is being patched, and whose errno is a thread's.
#pragma once

#include <sys/syscall.h>

#include <cstdint>

namespace landtrace::agent {

// The result, or the negative errno.
inline long raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
#if defined(__x86_64__)
  long result = number;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "+a"(result), "+r"(r10), "+r"(r8), "+r"(r9)
               : "D"(a), "S"(b), "d"(c)
               : "rcx", "r11", "memory");
  return result;
#else
  (void)number, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
  return -38;
#endif
}

template <typename T>
long raw_address(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

}  // namespace landtrace::agent
