#include "arch/clock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace landtrace::arch {
namespace {

#if defined(__aarch64__)
constexpr std::string_view kCounterSource = "arch_sys_counter";
#else
constexpr std::string_view kCounterSource = "tsc";
#endif

bool kernel_keeps_time_by_counter() {
  const int fd = ::open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;  // a container without /sys: the CPU's own word must do
  char text[32];
  const ssize_t n = ::read(fd, text, sizeof text);
  ::close(fd);
  return n >= 0 && std::string_view(text, static_cast<std::size_t>(n)).starts_with(kCounterSource);
}

bool counter_is_invariant() {
#if defined(__x86_64__)
  constexpr unsigned kAdvancedPowerLeaf = 0x80000007;
  constexpr unsigned kInvariantTsc = 1u << 8;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(kAdvancedPowerLeaf, &a, &b, &c, &d) != 0 && (d & kInvariantTsc) != 0;
#elif defined(__aarch64__)
  return true;  // by the architecture
#else
  return false;
#endif
}

}  // namespace

RawClock best_raw_clock() {
  return counter_is_invariant() && kernel_keeps_time_by_counter() ? RawClock::kTsc : RawClock::kMonotonic;
}

}  // namespace landtrace::arch
