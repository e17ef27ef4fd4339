// libbpf calls syscall(__NR_bpf, …): in this program the domain answers. From 1.4 on it moves each map to a descriptor
// that it had reserved, by syscall(__NR_dup3, …).
#include <sys/syscall.h>

#include <cerrno>
#include <cstdarg>

#include "base/system_call.hpp"
#include "bpf_calls/bpf_call.hpp"
#include "bpf_calls/descriptors.hpp"

extern "C" __attribute__((visibility("default"))) long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  long x[6];
  for (long& one : x) one = va_arg(list, long);
  va_end(list);
  long result = 0;
  if (number == SYS_bpf) {
    const auto answer = landtrace::bpf_calls::bpf_call(static_cast<int>(x[0]), reinterpret_cast<const void*>(x[1]),
                                                       static_cast<unsigned>(x[2]));
    // What is not for the domain is not for this program either: it may not touch the kernel's.
    result = answer ? *answer : -EINVAL;
  } else {
    result = landtrace::system_call(number, x[0], x[1], x[2], x[3], x[4], x[5]);
    if (number == SYS_dup3 && result >= 0)
      landtrace::bpf_calls::copy_descriptor(static_cast<int>(x[0]), static_cast<int>(result));
  }
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}
