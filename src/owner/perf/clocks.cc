#include "perf/clocks.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/fd.hpp"
#include "base/system_call.hpp"
#include "perf/mapped_ring.hpp"

namespace landtrace::perf {
namespace {


bool is_known(std::int32_t clock) {
  return clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_REALTIME ||
         clock == CLOCK_BOOTTIME || clock == CLOCK_TAI;
}

}  // namespace

// Not through libc, where the shim stands: this is meant for the kernel.
std::unique_ptr<SampleClock> SampleClock::of_kernel(arch::RawClock raw) {
  if (raw != arch::RawClock::kTsc) return nullptr;
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.size = PERF_ATTR_SIZE_VER5;
  attr.exclude_kernel = attr.exclude_hv = 1;
  const Fd event(static_cast<int>(system_call(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (event.get() < 0) return nullptr;
  const long mapped = system_call(SYS_mmap, 0L, MappedRing::kPage, PROT_READ, MAP_SHARED, event.get(), 0);
  if (mapped < 0 && mapped > -static_cast<long>(MappedRing::kPage)) return nullptr;
  const perf_event_mmap_page page = *reinterpret_cast<const perf_event_mmap_page*>(mapped);
  system_call(SYS_munmap, mapped, MappedRing::kPage);
  if (page.cap_user_time_zero == 0) return nullptr;
  std::unique_ptr<SampleClock> clock(new SampleClock());
  clock->zero_ = page.time_zero;
  clock->factor_ = page.time_mult;
  clock->shift_ = page.time_shift;
  return clock;
}

SampleClock* SampleClocks::find(const perf_event_attr& attr) {
  const clockid_t id = attr.use_clockid != 0 ? attr.clockid : kOfKernel;
  if (attr.use_clockid != 0 && !is_known(attr.clockid)) return nullptr;
  std::unique_ptr<SampleClock>& clock = clocks_[id];
  if (!clock && id == kOfKernel) clock = SampleClock::of_kernel(raw_);
  if (!clock) clock = std::make_unique<SampleClock>(raw_, id == kOfKernel ? CLOCK_MONOTONIC : id);
  return clock.get();
}

}  // namespace landtrace::perf
