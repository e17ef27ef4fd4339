#include "perf/clocks.hpp"

#include <sys/syscall.h>

#include "base/fd.hpp"
#include "base/mapping.hpp"
#include "base/system_call.hpp"
#include "perf/kernel_clock.hpp"
#include "perf/mapped_ring.hpp"

namespace landtrace::perf {
namespace {

bool is_known(std::int32_t clock) {
  return clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_REALTIME ||
         clock == CLOCK_BOOTTIME || clock == CLOCK_TAI;
}

}  // namespace

// Not through libc, where the shim stands: this is meant for the kernel.
bool SampleClock::read_page() {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.size = PERF_ATTR_SIZE_VER5;
  attr.exclude_kernel = attr.exclude_hv = 1;
  const Fd event(static_cast<int>(system_call(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (event.get() < 0) return false;
  const auto memory = Mapping::map(event.get(), MappedRing::kPage, Mapping::Access::kReadOnly);
  if (!memory) return false;
  const auto& page = *reinterpret_cast<const perf_event_mmap_page*>(memory->data());
  if (page.cap_user_time_zero == 0) return false;
  zero_ = page.time_zero;
  factor_ = page.time_mult;
  shift_ = page.time_shift;
  return true;
}

std::unique_ptr<SampleClock> SampleClock::of_kernel(arch::RawClock raw) {
  std::unique_ptr<SampleClock> clock(new SampleClock());
  if (raw == arch::RawClock::kTsc && clock->read_page()) return clock;
  std::shared_ptr<KernelClock> of_events = KernelClock::open();
  if (of_events == nullptr) return nullptr;
  clock->line_.emplace(raw, [of_events = std::move(of_events)] { return of_events->read(); });
  return clock;
}

std::shared_ptr<SampleClock> SampleClocks::find(const perf_event_attr& attr) {
  const clockid_t id = attr.use_clockid != 0 ? attr.clockid : kOfKernel;
  if (attr.use_clockid != 0 && !is_known(attr.clockid)) return nullptr;
  std::shared_ptr<SampleClock>& clock = clocks_[id];
  if (!clock && id == kOfKernel) clock = SampleClock::of_kernel(raw_);
  if (!clock) clock = std::make_shared<SampleClock>(raw_, id == kOfKernel ? CLOCK_MONOTONIC : id);
  return clock;
}

}  // namespace landtrace::perf
