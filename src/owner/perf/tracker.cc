#include "perf/tracker.hpp"

#include <sys/syscall.h>

#include <bit>
#include <cstring>

#include "base/system_call.hpp"

namespace landtrace::perf {
namespace {

constexpr std::uint64_t kInTrailer = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
                                     PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

perf_event_attr dummy_of(const perf_event_attr& attr) {
  perf_event_attr dummy{};
  dummy.type = PERF_TYPE_SOFTWARE;
  dummy.size = sizeof dummy;
  dummy.config = PERF_COUNT_SW_DUMMY;
  dummy.sample_type = attr.sample_type & kInTrailer;
  dummy.sample_id_all = attr.sample_id_all;
  dummy.use_clockid = attr.use_clockid;
  dummy.clockid = attr.clockid;
  dummy.disabled = attr.disabled;
  dummy.inherit = attr.inherit;
  dummy.enable_on_exec = attr.enable_on_exec;
  dummy.comm = attr.comm;
  dummy.comm_exec = attr.comm_exec;
  dummy.mmap = attr.mmap;
  dummy.mmap2 = attr.mmap2;
  dummy.task = attr.task;
  return dummy;
}

// Not through libc, where the shim stands: this is meant for the kernel.
int open_event(const perf_event_attr& attr, std::int32_t pid, std::int32_t cpu) {
  return static_cast<int>(system_call(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

Tracker::Tracker(const perf_event_attr& attr, std::int32_t pid, std::int32_t cpu) {
  if (attr.comm == 0 && attr.mmap == 0 && attr.mmap2 == 0 && attr.task == 0) return;
  perf_event_attr dummy = dummy_of(attr);
  int fd = open_event(dummy, pid, cpu);
  // What a user may have.
  dummy.exclude_kernel = dummy.exclude_hv = 1;
  if (fd < 0) fd = open_event(dummy, pid, cpu);
  if (fd >= 0) event_ = Fd(fd);
}

void Tracker::enable(bool on) const {
  if (event_) system_call(SYS_ioctl, event_.get(), on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0L);
}

// The trailer's words, from the end.
void renumber(std::span<std::byte> record, const Renumbering& to) {
  std::size_t at = record.size();
  const auto pass = [&](std::uint64_t what, bool is_id) {
    if ((to.sample_type & what) == 0 || at < sizeof(perf_event_header) + sizeof to.id) return;
    at -= sizeof to.id;
    if (is_id) std::memcpy(record.data() + at, &to.id, sizeof to.id);
  };
  pass(PERF_SAMPLE_IDENTIFIER, true);
  pass(PERF_SAMPLE_CPU, false);
  pass(PERF_SAMPLE_STREAM_ID, true);
  pass(PERF_SAMPLE_ID, true);
  perf_event_header header{};
  std::memcpy(&header, record.data(), sizeof header);
  if (header.type == PERF_RECORD_LOST) std::memcpy(record.data() + sizeof header, &to.id, sizeof to.id);
}

std::optional<std::uint64_t> time_of(std::span<const std::byte> record, std::uint64_t sample_type) {
  constexpr std::uint64_t kBehind = PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
  std::uint64_t time;
  const std::size_t from_end = (static_cast<std::size_t>(std::popcount(sample_type & kBehind)) + 1) * sizeof time;
  if ((sample_type & PERF_SAMPLE_TIME) == 0) return std::nullopt;
  if (record.size() < sizeof(perf_event_header) + from_end) return std::nullopt;
  std::memcpy(&time, record.data() + record.size() - from_end, sizeof time);
  return time;
}

}  // namespace landtrace::perf
