// mmap of perf events and of eBPF maps. Programs map memory in the middle of anything, also before libraries are ready:
// what is none of these goes to the kernel without a look for the next library.
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>

#include "base/system_call.hpp"
#include "bpf_calls/descriptors.hpp"
#include "bpf_calls/map_memory.hpp"
#include "bpf_calls/perf_buffers.hpp"
#include "preload/perf_events.hpp"
#include "preload/real.hpp"

namespace landtrace::preload {
namespace {

void* map_any(void* address, std::size_t size, int protection, int flags, int fd, off_t offset) {
  if (__builtin_expect(perf_is_used && fd >= 0, 0)) {
    const FdEntry entry = FdTable::get(fd);
    if (is_perf_event(entry)) return map_perf_event(entry, address, size, protection, flags, offset);
  }
  if (__builtin_expect(fd >= 0 && bpf_calls::has_descriptors(), 0)) {
    if (const auto at = bpf_calls::map_memory(address, size, protection, flags, fd, offset)) {
      if (*at >= 0 || *at < -4095) {
        __atomic_store_n(&perf_is_used, true, __ATOMIC_RELAXED);
        return reinterpret_cast<void*>(*at);
      }
      errno = static_cast<int>(-*at);
      return MAP_FAILED;
    }
  }
  const bool is_buffer = __builtin_expect(perf_is_used && fd >= 0, 0) && bpf_calls::is_perf_buffer(fd);
  const long mapped = is_buffer ? bpf_calls::map_perf_buffer(fd, size)
                                : system_call(SYS_mmap, address, size, protection, flags, fd, offset);
  constexpr long kErrors = 4096;
  if (mapped < 0 && mapped >= -kErrors) {
    errno = static_cast<int>(-mapped);
    return MAP_FAILED;
  }
  if (__builtin_expect(perf_is_used && fd >= 0 && (flags & MAP_SHARED) != 0, 0)) {
    perf_event_mapped(fd, reinterpret_cast<void*>(mapped), size);
  }
  return reinterpret_cast<void*>(mapped);
}

}  // namespace
}  // namespace landtrace::preload

using namespace landtrace::preload;

LT_EXPORT void* mmap(void* address, std::size_t size, int protection, int flags, int fd, off_t offset) noexcept {
  return map_any(address, size, protection, flags, fd, offset);
}

LT_EXPORT void* mmap64(void* address, std::size_t size, int protection, int flags, int fd, off64_t offset) noexcept {
  return map_any(address, size, protection, flags, fd, offset);
}
