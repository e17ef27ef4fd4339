#include "perf/attr.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/fd.hpp"

namespace landtrace::perf {
namespace {

constexpr std::uint32_t kLargest = 4096;
// Fields that the kernel of these headers has.
constexpr std::uint64_t kKnownSampleType = PERF_SAMPLE_MAX - 1;
constexpr std::uint64_t kKnownReadFormat = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
                                           PERF_FORMAT_ID | PERF_FORMAT_GROUP | PERF_FORMAT_LOST;

// Of the kernel's; without limit where it does not say.
std::uint64_t setting(const char* name) {
  const auto text = read_file(std::string("/proc/sys/kernel/") + name, 64);
  return text ? std::strtoull(text->c_str(), nullptr, 10) : ~0ull;
}

// Masks of registers, by the machine: what is in none of the sets is no register.
#ifdef __x86_64__
// ds, es, fs and gs are not there with 64 bits.
constexpr std::uint64_t kRegisters = 0xff'ffff & ~(0xfull << 12);
constexpr std::uint64_t kExtendedRegisters = ~0ull << 32;
#else
constexpr std::uint64_t kRegisters = (1ull << 33) - 1;
constexpr std::uint64_t kExtendedRegisters = 0;
#endif

bool has_extended_registers(std::uint64_t sample_type, std::uint64_t which, std::uint64_t mask) {
  return (sample_type & which) != 0 && (mask & kExtendedRegisters) != 0;
}

Result<void> check_samples(const perf_event_attr& attr) {
  const auto has = [&](std::uint64_t what) { return (attr.sample_type & what) != 0; };
  constexpr std::uint64_t kLevels = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV;
  const std::uint64_t branches = attr.branch_sample_type;
  if (has(PERF_SAMPLE_BRANCH_STACK) && ((branches & ~kLevels) == 0 || branches >= PERF_SAMPLE_BRANCH_MAX)) {
    return fail(EINVAL);
  }
  const auto are_registers = [](std::uint64_t mask) {
    return mask != 0 && (mask & ~(kRegisters | kExtendedRegisters)) == 0;
  };
  if (has(PERF_SAMPLE_REGS_USER) && !are_registers(attr.sample_regs_user)) return fail(EINVAL);
  if (has(PERF_SAMPLE_REGS_INTR) && !are_registers(attr.sample_regs_intr)) return fail(EINVAL);
  constexpr std::uint32_t kStackLimit = 0xffff;
  const std::uint32_t stack = attr.sample_stack_user;
  if (has(PERF_SAMPLE_STACK_USER) && (stack >= kStackLimit || stack % sizeof(std::uint64_t) != 0)) return fail(EINVAL);
  if (has(PERF_SAMPLE_WEIGHT) && has(PERF_SAMPLE_WEIGHT_STRUCT)) return fail(EINVAL);
  return {};
}

}  // namespace

bool copy_in(void* to, const void* from, std::size_t size) {
  const iovec local{to, size};
  const iovec remote{const_cast<void*>(from), size};
  return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

bool copy_out(void* to, const void* from, std::size_t size) {
  const iovec local{const_cast<void*>(from), size};
  const iovec remote{to, size};
  return ::process_vm_writev(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

Result<perf_event_attr> read_attr(void* from) {
  auto* const begin = static_cast<std::byte*>(from);
  std::byte* const size_at = begin + offsetof(perf_event_attr, size);
  std::uint32_t size = 0;
  if (!copy_in(&size, size_at, sizeof size)) return fail(EFAULT);
  if (size == 0) size = PERF_ATTR_SIZE_VER0;
  const auto too_big = [&]() -> tl::unexpected<Error> {
    const std::uint32_t known = sizeof(perf_event_attr);
    std::ignore = copy_out(size_at, &known, sizeof known);
    return fail(E2BIG);
  };
  if (size < PERF_ATTR_SIZE_VER0 || size > kLargest) return too_big();
  std::vector<std::byte> bytes(std::max<std::size_t>(size, sizeof(perf_event_attr)));
  if (!copy_in(bytes.data(), begin, size)) return fail(EFAULT);
  if (std::any_of(bytes.begin() + sizeof(perf_event_attr), bytes.end(), [](std::byte b) { return b != std::byte{}; })) {
    return too_big();
  }
  perf_event_attr attr{};
  std::memcpy(&attr, bytes.data(), sizeof attr);
  attr.size = size;
  return attr;
}

Result<void> check_attr(const perf_event_attr& attr) {
  if (attr.__reserved_1 != 0 || attr.__reserved_2 != 0 || attr.__reserved_3 != 0) return fail(EINVAL);
  if ((attr.sample_type & ~kKnownSampleType) != 0 || (attr.read_format & ~kKnownReadFormat) != 0) return fail(EINVAL);
  LT_CHECK(check_samples(attr));
  if (attr.freq == 0 && (attr.sample_period >> 63) != 0) return fail(EINVAL);
  if (attr.freq != 0 && attr.sample_freq > setting("perf_event_max_sample_rate")) return fail(EINVAL);
  if (attr.remove_on_exec != 0 && attr.enable_on_exec != 0) return fail(EINVAL);
  if (attr.inherit_thread != 0 && attr.inherit == 0) return fail(EINVAL);
  if (attr.sigtrap != 0 && attr.remove_on_exec == 0) return fail(EINVAL);
  // What hardware alone has.
  const bool has_branches = (attr.sample_type & PERF_SAMPLE_BRANCH_STACK) != 0;
  const bool has_extended = has_extended_registers(attr.sample_type, PERF_SAMPLE_REGS_USER, attr.sample_regs_user) ||
                            has_extended_registers(attr.sample_type, PERF_SAMPLE_REGS_INTR, attr.sample_regs_intr);
  if (has_branches || has_extended || attr.aux_output != 0) return fail(EOPNOTSUPP);
  const bool has_chain = (attr.sample_type & PERF_SAMPLE_CALLCHAIN) != 0;
  if (has_chain && attr.sample_max_stack > setting("perf_event_max_stack")) return fail(EOVERFLOW);
  return {};
}

}  // namespace landtrace::perf
