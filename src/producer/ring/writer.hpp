// Appends records to a set of rings: one ring per CPU for restartable sequences, and some more for threads that
// have none, which claim one of those for the length of a write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "arch/clock.hpp"
#include "arch/rseq.hpp"
#include "arch/write.hpp"
#include "ring/layout.hpp"

namespace landtrace::ring {

// Rings [0, cpus) are for the writers that run on their CPU, rings [cpus, cpus + claimed) for those that claim one.
// These belong to CPUs, too (cpu_of_ring()): a writer takes another CPU's only where all of its own are taken.
struct RingSet {
  // Of ring 0.
  std::byte* base;
  // One word per ring: the consumer's position and turn, or kNeverFull.
  const std::uint64_t* consumed;
  PreparedGeometry geometry;
  std::uint32_t cpus;
  std::uint32_t claimed;
};

// Under which CPU readers show what is in a ring.
constexpr std::uint32_t cpu_of_ring(std::uint32_t index, std::uint32_t cpus) {
  return index < cpus ? index : (index - cpus) % cpus;
}

inline constexpr std::uint32_t kOwnCpu = ~0u;

// How the calling thread writes. Decided once per process, see client/.
struct WriteMode {
  arch::RseqArea* area;  // nullptr: claim a ring
  arch::RawClock clock;
  // The CPU that a claimed ring is to belong to: of the thread for which another one writes. kOwnCpu: where the calling
  // thread runs.
  std::uint32_t cpu = kOwnCpu;
};

struct RecordSpec {
  std::uint32_t tid;
  std::uint16_t event;
  // Bytes, the sum of the segments, at most kMaxPayload.
  std::uint32_t payload;
  const Segment* segments;
  std::uint32_t segment_count;
};

enum class WriteResult : std::uint8_t { kWritten, kDiscarded };

// A write in pieces, so that a caller has the usual case in line: describe(), the record's part of a request, which
// serves for any number of rings; write_at_once(), one restartable attempt; and write_after(), what is left to do where
// that did not commit. Async-signal-safe, no system call, never waits.

inline void describe(arch::WriteRequest& request, const RecordSpec& record) {
  request.length = record_length(record.payload);
  request.word = record_word(record.tid, record.event, record.payload);
  request.segments = record.segments;
  request.segment_count = record.segment_count;
}

inline void aim(arch::WriteRequest& request, const RingSet& rings, std::uint32_t index) {
  const PreparedGeometry& geometry = rings.geometry;
  std::byte* const base = rings.base + index * geometry.stride;
  request.ring = reinterpret_cast<RingWords*>(base);
  request.marks = reinterpret_cast<Mark*>(base + Geometry::marks_offset());
  request.data = base + geometry.data_offset;
  request.consumed = rings.consumed + index;
  request.size = geometry.size;
  request.offset_mask = geometry.offset_mask;
  request.marks_mask = geometry.marks_mask;
  request.chunk_shift = geometry.chunk_shift;
}

// A record's time: read in the sequence that writes it, or one that arch::hold_time() has held (0: none any more).
// Types, so that who holds none neither passes nor tests any.
struct TimeOfWrite {};
struct HeldTime {
  std::uint64_t counter;
};

// Counts nothing where it does not commit. `rings` and `mode` are values, so that they need not be in memory.
template <typename Time>
inline arch::WriteOutcome write_at_once(arch::WriteRequest& request, const RingSet rings, const WriteMode mode,
                                        const Time time) {
  if (__builtin_expect(mode.area == nullptr, 0)) return arch::WriteOutcome::kRestarted;
  const std::uint32_t cpu = mode.area->cpu_id_start;
  if (__builtin_expect(cpu >= rings.cpus, 0)) return arch::WriteOutcome::kRestarted;
  aim(request, rings, cpu);
  if constexpr (std::is_same_v<Time, HeldTime>) {
    if (time.counter != 0) return arch::write_rseq_held(request, mode.area, cpu, request.ring, time.counter);
  }
  return arch::write_rseq(request, mode.area, cpu, request.ring);
}

// What is left to do after an attempt of write_at_once() with the outcome `first`: tries again, or counts the record as
// discarded in its ring. `claim` marks a ring as taken: not 0, and no other thread's.
WriteResult write_after(arch::WriteOutcome first, arch::WriteRequest& request, const RingSet& rings,
                        const WriteMode& mode, std::uint32_t claim);

}  // namespace landtrace::ring
