#include "perf/attr.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace landtrace::perf {
namespace {

constexpr std::uint32_t kLargest = 4096;
// Fields that the kernel of these headers has.
constexpr std::uint64_t kKnownSampleType = PERF_SAMPLE_MAX - 1;
constexpr std::uint64_t kKnownReadFormat = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
                                           PERF_FORMAT_ID | PERF_FORMAT_GROUP | PERF_FORMAT_LOST;

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
  if ((attr.sample_type & ~kKnownSampleType) != 0 || (attr.read_format & ~kKnownReadFormat) != 0) return fail(EINVAL);
  if (attr.freq == 0 && (attr.sample_period >> 63) != 0) return fail(EINVAL);
  if (attr.remove_on_exec != 0 && attr.enable_on_exec != 0) return fail(EINVAL);
  if (attr.inherit_thread != 0 && attr.inherit == 0) return fail(EINVAL);
  return {};
}

}  // namespace landtrace::perf
