#include <cerrno>
#include <cstring>

#include "bpf/helpers.hpp"
#include "bpf/maps/perf.hpp"
#include "bpf/printk.hpp"

namespace landtrace::bpf::helpers {
namespace {

const MapLayout* ring_of(Execution& run, std::uint64_t handle) {
  std::uint32_t index = 0;
  const MapLayout* const map = run.map_of(handle, index);
  return map != nullptr && map->kind == kRingbuf ? map : nullptr;
}

void leave_line(Execution& run, const char* text, std::uint32_t size) {
  if (run.program.lines == 0) return;
  const RecordRing ring(run.data + run.program.lines, run.program.line_bytes);
  const RecordRing::Record record =
      ring.reserve(static_cast<std::uint32_t>(sizeof(LineHeader)) + size, run.around.tid(), &run);
  if (record.data == nullptr) return run.count(&Figures::lines_lost);
  LineHeader header{run.around.time_ns(), run.around.tid(), run.around.cpu(), {}};
  run.around.comm(header.comm);
  std::memcpy(record.data, &header, sizeof header);
  std::memcpy(record.data + sizeof header, text, size);
  ring.release(record, false);
}

constexpr std::uint64_t kWakeFlags = BPF_RB_NO_WAKEUP | BPF_RB_FORCE_WAKEUP;

// The number of the record that begins there; kMaxHeldRecords: none.
std::uint32_t held_at(const Execution& run, std::uint64_t record) {
  const std::uint64_t number = window_of(record) - kFirstRecordWindow;
  if (number >= kMaxHeldRecords || (record & kWindowOffsetMask) != 0) return kMaxHeldRecords;
  return (run.held >> number & 1) != 0 ? static_cast<std::uint32_t>(number) : kMaxHeldRecords;
}

std::uint64_t end_record(Execution& run, std::uint64_t record, bool discard) {
  const std::uint32_t number = held_at(run, record);
  if (number == kMaxHeldRecords) return run.stop(End::kFault);
  run.held_rings[number].release(run.held_records[number], discard);
  run.held &= ~(1u << number);
  run.records[number] = {};
  return 0;
}

}  // namespace

std::uint64_t trace_printk(Execution& run, std::uint64_t format, std::uint64_t size, std::uint64_t a, std::uint64_t b,
                           std::uint64_t c) {
  size = static_cast<std::uint32_t>(size);
  const std::byte* const at = run.readable(format, size);
  if (at == nullptr) return run.stop(End::kFault);
  if (!run.spend(kMaxPrinted / 8 + size / 8)) return 0;
  const std::uint64_t arguments[] = {a, b, c};
  char line[kMaxPrinted];
  const std::int64_t length = print_line(run, reinterpret_cast<const char*>(at), size, arguments, line);
  if (length >= 0) leave_line(run, line, static_cast<std::uint32_t>(length));
  return answer(length);
}

std::uint64_t perf_event_output(Execution& run, std::uint64_t, std::uint64_t map, std::uint64_t flags,
                                std::uint64_t data, std::uint64_t size) {
  std::uint32_t index = 0;
  const MapLayout* const layout = run.map_of(map, index);
  size = static_cast<std::uint32_t>(size);
  const std::byte* const from = run.readable(data, size);
  if (layout == nullptr || layout->kind != kPerfEventArray || from == nullptr) return run.stop(End::kFault);
  if (flags >> 32 != 0) return answer(-EINVAL);
  if (!run.spend(size / 8)) return 0;
  // The row is this run's alone, and with it the CPU's buffer: it has one writer.
  const std::uint32_t row = run.row();
  const auto wanted = static_cast<std::uint32_t>(flags);
  if (wanted != static_cast<std::uint32_t>(BPF_F_CURRENT_CPU) && wanted != row) {
    return answer(wanted >= layout->max_entries ? -E2BIG : -EOPNOTSUPP);
  }
  if (!run.row_is_mine) return answer(-EBUSY);
  return answer(PerfSlots(run.data, *layout).output(row, from, static_cast<std::uint32_t>(size)));
}

std::uint64_t ringbuf_output(Execution& run, std::uint64_t map, std::uint64_t data, std::uint64_t size,
                             std::uint64_t flags, std::uint64_t) {
  const MapLayout* const layout = ring_of(run, map);
  const std::byte* const from = run.readable(data, size);
  if (layout == nullptr || from == nullptr) return run.stop(End::kFault);
  if ((flags & ~kWakeFlags) != 0) return answer(-EINVAL);
  if (size > layout->max_entries) return answer(-E2BIG);
  if (!run.spend(size / 8)) return 0;
  const RecordRing ring(run.data, *layout);
  const RecordRing::Record record = ring.reserve(static_cast<std::uint32_t>(size), run.around.tid(), &run);
  if (record.data == nullptr) return answer(-EAGAIN);
  std::memcpy(record.data, from, size);
  ring.release(record, false);
  return 0;
}

std::uint64_t ringbuf_reserve(Execution& run, std::uint64_t map, std::uint64_t size, std::uint64_t flags, std::uint64_t,
                              std::uint64_t) {
  const MapLayout* const layout = ring_of(run, map);
  if (layout == nullptr) return run.stop(End::kFault);
  if (flags != 0 || size > layout->max_entries) return 0;
  std::uint32_t number = 0;
  while (number < kMaxHeldRecords && (run.held >> number & 1) != 0) ++number;
  if (number == kMaxHeldRecords) return 0;
  const RecordRing ring(run.data, *layout);
  const RecordRing::Record record = ring.reserve(static_cast<std::uint32_t>(size), run.around.tid(), &run);
  if (record.data == nullptr) return 0;
  run.held |= 1u << number;
  run.held_records[number] = record;
  run.held_rings[number] = {run.data, layout};
  run.records[number] = {record.data, size};
  return window_address(kFirstRecordWindow + number);
}

std::uint64_t ringbuf_submit(Execution& run, std::uint64_t record, std::uint64_t, std::uint64_t, std::uint64_t,
                             std::uint64_t) {
  return end_record(run, record, false);
}

std::uint64_t ringbuf_discard(Execution& run, std::uint64_t record, std::uint64_t, std::uint64_t, std::uint64_t,
                              std::uint64_t) {
  return end_record(run, record, true);
}

std::uint64_t ringbuf_query(Execution& run, std::uint64_t map, std::uint64_t flags, std::uint64_t, std::uint64_t,
                            std::uint64_t) {
  const MapLayout* const layout = ring_of(run, map);
  if (layout == nullptr) return run.stop(End::kFault);
  const RecordRing ring(run.data, *layout);
  const std::uint64_t consumer = __atomic_load_n(ring.consumer(), __ATOMIC_RELAXED);
  const std::uint64_t producer = __atomic_load_n(ring.producer(), __ATOMIC_RELAXED);
  switch (flags) {
    case BPF_RB_AVAIL_DATA:
      return producer - consumer;
    case BPF_RB_RING_SIZE:
      return layout->max_entries;
    case BPF_RB_CONS_POS:
      return consumer;
    case BPF_RB_PROD_POS:
      return producer;
    default:
      return 0;
  }
}

}  // namespace landtrace::bpf::helpers
