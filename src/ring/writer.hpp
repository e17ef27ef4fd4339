// Appends records to a set of rings: one ring per CPU for restartable sequences, and some more for threads that
// have none, which claim one of those for the length of a write.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/clock.hpp"
#include "arch/rseq.hpp"
#include "arch/write.hpp"
#include "ring/layout.hpp"

namespace landtrace::ring {

// Rings [0, cpus) belong to CPUs, rings [cpus, cpus + claimed) are for writers that claim one.
struct RingSet {
  std::byte* base;                // of ring 0
  const std::uint64_t* consumed;  // one word per ring: the consumer's position, or kNeverFull
  PreparedGeometry geometry;
  std::uint32_t cpus;
  std::uint32_t claimed;
};

// How the calling thread writes. Decided once per process, see client/.
struct WriteMode {
  arch::RseqArea* area;  // nullptr: claim a ring
  arch::RawClock clock;
};

struct RecordSpec {
  std::uint32_t tid;
  std::uint16_t event;
  std::uint32_t payload;  // bytes, the sum of the segments, at most kMaxPayload
  const Segment* segments;
  std::uint32_t segment_count;
};

enum class WriteResult : std::uint8_t { kWritten, kDiscarded };

namespace detail {

inline void aim(arch::WriteRequest& request, const RingSet& rings, std::uint32_t index) {
  std::byte* const base = rings.base + index * rings.geometry.stride();
  request.ring = reinterpret_cast<RingWords*>(base);
  request.marks = reinterpret_cast<Mark*>(base + Geometry::marks_offset());
  request.data = base + rings.geometry.data_offset();
  request.consumed = rings.consumed + index;
}

// What is left when a first restartable attempt did not do: tries again, or another way, until the record is
// written or counted. `request` is complete but for where it aims.
WriteResult write_on(arch::WriteRequest& request, const RingSet& rings, const WriteMode& mode, std::uint32_t tid);

}  // namespace detail

// Async-signal-safe, no system call, never waits. A record that finds no room is counted in its ring. The first
// attempt is in line: nearly every event needs no other.
inline WriteResult write(const RingSet& rings, const WriteMode& mode, const RecordSpec& record) {
  arch::WriteRequest request;
  request.size = rings.geometry.size();
  request.offset_mask = request.size - 8;
  request.marks_mask = rings.geometry.marks_mask();
  request.chunk_shift = rings.geometry.chunk_shift();
  request.length = record_length(record.payload);
  request.word = record_word(record.tid, record.event, record.payload);
  request.segments = record.segments;
  request.segment_count = record.segment_count;
  if (__builtin_expect(mode.area != nullptr, 1)) {
    const std::uint32_t cpu = mode.area->cpu_id_start;
    if (__builtin_expect(cpu < rings.cpus, 1)) {
      detail::aim(request, rings, cpu);
      const arch::WriteOutcome outcome = arch::write_rseq(request, mode.area, cpu);
      if (__builtin_expect(outcome == arch::WriteOutcome::kCommitted, 1)) return WriteResult::kWritten;
    }
  }
  return detail::write_on(request, rings, mode, record.tid);
}

}  // namespace landtrace::ring
