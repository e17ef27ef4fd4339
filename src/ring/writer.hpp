// Appends records to a set of rings: one ring per CPU for restartable sequences, and some more for threads that
// have none, which claim one of those for the length of a write.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/clock.hpp"
#include "arch/rseq.hpp"
#include "ring/layout.hpp"

namespace landtrace::ring {

// Rings [0, cpus) belong to CPUs, rings [cpus, cpus + claimed) are for writers that claim one.
struct RingSet {
  std::byte* base;                // of ring 0
  const std::uint64_t* consumed;  // one word per ring: the consumer's position, or kNeverFull
  Geometry geometry;
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

// Async-signal-safe, no system call, never waits. A record that finds no room is counted in its ring.
WriteResult write(const RingSet& rings, const WriteMode& mode, const RecordSpec& record);

}  // namespace landtrace::ring
