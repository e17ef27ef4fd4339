#include "arch/clock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace landtrace::arch {
namespace {

bool kernel_keeps_time_by_tsc() {
  const int fd = ::open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;  // a container without /sys: the CPU's own word must do
  char text[16] = {};
  const ssize_t n = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  return n >= 3 && std::strncmp(text, "tsc", 3) == 0;
}

bool tsc_is_invariant() {
#if defined(__x86_64__)
  constexpr unsigned kAdvancedPowerLeaf = 0x80000007;
  constexpr unsigned kInvariantTsc = 1u << 8;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(kAdvancedPowerLeaf, &a, &b, &c, &d) != 0 && (d & kInvariantTsc) != 0;
#else
  return false;
#endif
}

}  // namespace

RawClock best_raw_clock() {
  return tsc_is_invariant() && kernel_keeps_time_by_tsc() ? RawClock::kTsc : RawClock::kMonotonic;
}

}  // namespace landtrace::arch
