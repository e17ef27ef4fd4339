#include "perf/exec_watch.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>

#include <cstring>
#include <ctime>

#include "base/system_call.hpp"
#include "perf/mapped_ring.hpp"

namespace landtrace::perf {

// Not through libc, where the shim stands: this is meant for the kernel.
std::optional<ExecWatch> ExecWatch::open(std::uint32_t tid) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.size = sizeof attr;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.sample_type = PERF_SAMPLE_TIME;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.comm = attr.comm_exec = 1;
  attr.exclude_kernel = attr.exclude_hv = 1;
  const long opened = system_call(SYS_perf_event_open, &attr, static_cast<long>(tid), -1L, -1L, PERF_FLAG_FD_CLOEXEC);
  if (opened < 0) return std::nullopt;
  Fd event(static_cast<int>(opened));
  auto memory = Mapping::map(event.get(), 2 * MappedRing::kPage, Mapping::Access::kReadWrite);
  if (!memory) return std::nullopt;
  return ExecWatch(std::move(event), *std::move(memory));
}

std::optional<std::uint64_t> ExecWatch::first_exec_ns() {
  const auto& page = *reinterpret_cast<const perf_event_mmap_page*>(memory_.data());
  // Pairs with the kernel's store behind the records. They are few: nothing is ever taken away.
  const std::uint64_t head = __atomic_load_n(&page.data_head, __ATOMIC_ACQUIRE);
  const std::byte* const data = memory_.data() + MappedRing::kPage;
  std::uint64_t at = 0;
  while (at + sizeof(perf_event_header) <= head) {
    perf_event_header header{};
    std::memcpy(&header, data + at, sizeof header);
    if (header.size < sizeof header + sizeof(std::uint64_t) || at + header.size > MappedRing::kPage) break;
    at += header.size;
    if (header.type != PERF_RECORD_COMM || (header.misc & PERF_RECORD_MISC_COMM_EXEC) == 0) continue;
    // The time is the last that a record of this event has.
    std::uint64_t time_ns = 0;
    std::memcpy(&time_ns, data + at - sizeof time_ns, sizeof time_ns);
    return time_ns;
  }
  return std::nullopt;
}

}  // namespace landtrace::perf
