// System calls without libc: for what may run in the middle of any function of a program. They leave errno alone, and
// nothing of the program stands in front of them.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace landtrace {

namespace detail {

inline long to_word(long value) { return value; }
template <typename T>
long to_word(T* value) {
  return reinterpret_cast<long>(value);
}

#if defined(__x86_64__)
inline long call_kernel(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
inline long call_kernel(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
#else
// By a libc whose syscall() nothing stands in front of.
inline long call_kernel(long number, long a, long b, long c, long d, long e, long f) {
  const int saved_errno = errno;
  const long result = ::syscall(number, a, b, c, d, e, f);
  const long answer = result < 0 ? -errno : result;
  errno = saved_errno;
  return answer;
}
#endif

}  // namespace detail

// What the kernel returns: a negative errno where it refuses. Async-signal-safe.
template <typename A = long, typename B = long, typename C = long, typename D = long, typename E = long,
          typename F = long>
long system_call(long number, A a = {}, B b = {}, C c = {}, D d = {}, E e = {}, F f = {}) {
  using detail::to_word;
  return detail::call_kernel(number, to_word(a), to_word(b), to_word(c), to_word(d), to_word(e), to_word(f));
}

}  // namespace landtrace
