#include "perf/kernel_clock.hpp"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "base/system_call.hpp"
#include "perf/mapped_ring.hpp"

namespace landtrace::perf {

std::unique_ptr<KernelClock> KernelClock::open() {
  auto clock = std::make_unique<KernelClock>();
  return clock->read() != 0 ? std::move(clock) : nullptr;
}

// Not through libc, where the shim stands: this is meant for the kernel.
bool KernelClock::follow_this_thread() {
  const int tid = ::gettid();
  if (tid == tid_ && memory_) return true;
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.size = PERF_ATTR_SIZE_VER5;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.sample_type = PERF_SAMPLE_TIME;
  attr.sample_id_all = 1;
  attr.mmap = attr.mmap_data = 1;
  attr.exclude_kernel = attr.exclude_hv = 1;
  Fd event(static_cast<int>(system_call(SYS_perf_event_open, &attr, 0L, -1L, -1L, PERF_FLAG_FD_CLOEXEC)));
  if (event.get() < 0) return false;
  // Nobody says how far it was read: the newest records are kept.
  auto memory = Mapping::map(event.get(), 2 * MappedRing::kPage, Mapping::Access::kReadOnly);
  if (!memory) return false;
  memory_ = *std::move(memory);
  event_ = std::move(event);
  tid_ = tid;
  return true;
}

std::uint64_t KernelClock::read() {
  if (!follow_this_thread()) return 0;
  const auto& page = *reinterpret_cast<const perf_event_mmap_page*>(memory_.data());
  const std::uint64_t before = __atomic_load_n(&page.data_head, __ATOMIC_RELAXED);
  const long mapped = system_call(SYS_mmap, 0L, MappedRing::kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1L, 0L);
  if (mapped < 0 && mapped > -static_cast<long>(MappedRing::kPage)) return 0;
  system_call(SYS_munmap, mapped, MappedRing::kPage);
  // Pairs with the kernel's store behind the record, which ends with its time.
  const std::uint64_t head = __atomic_load_n(&page.data_head, __ATOMIC_ACQUIRE);
  if (head == before) return 0;
  std::uint64_t time_ns;
  std::memcpy(&time_ns, memory_.data() + MappedRing::kPage + ((head - sizeof time_ns) & (MappedRing::kPage - 1)),
              sizeof time_ns);
  return time_ns;
}

}  // namespace landtrace::perf
