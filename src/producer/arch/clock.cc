#include "arch/clock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "arch/counter_trust.hpp"

namespace landtrace::arch {
namespace {

#if defined(__aarch64__)
constexpr std::string_view kCounterSource = "arch_sys_counter";
#else
constexpr std::string_view kCounterSource = "tsc";
#endif

// What a file of sysfs says; nullopt: there is none.
struct SysfsText {
  char bytes[256];
  std::size_t size = 0;
  [[nodiscard]] std::string_view view() const { return {bytes, size}; }
};

std::optional<SysfsText> read_sysfs(const char* path) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  SysfsText text;
  const ssize_t n = ::read(fd, text.bytes, sizeof text.bytes);
  ::close(fd);
  if (n > 0) text.size = static_cast<std::size_t>(n);
  return text;
}

bool kernel_trusts_counter() {
  const auto current = read_sysfs("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (!current) return true;  // a container without /sys: the CPU's own word must do
  const auto available = read_sysfs("/sys/devices/system/clocksource/clocksource0/available_clocksource");
  return is_counter_trusted(current->view(), available ? available->view() : std::string_view());
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

// Of words with a space or a newline between them.
bool has_word(std::string_view text, std::string_view word) {
  constexpr std::string_view kBetween = " \n";
  while (!text.empty()) {
    const std::string_view next = text.substr(0, text.find_first_of(kBetween));
    if (next == word) return true;
    text.remove_prefix(std::min(text.size(), next.size() + 1));
  }
  return false;
}

}  // namespace

bool is_counter_trusted(std::string_view current, std::string_view available) {
  // These are clocks of hypervisors: guests read them by the counter, too.
  for (const std::string_view by_counter : {"kvm-clock", "hyperv_clocksource_tsc_page", "xen"}) {
    if (has_word(current, by_counter)) return has_word(available, kCounterSource);
  }
  return has_word(current, kCounterSource);
}

RawClock best_raw_clock() {
  return counter_is_invariant() && kernel_trusts_counter() ? RawClock::kTsc : RawClock::kMonotonic;
}

}  // namespace landtrace::arch
