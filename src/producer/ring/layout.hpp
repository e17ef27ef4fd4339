// A per-CPU ring in shared memory.
//
//   +0            RingWords   tail, count, intent, discarded, claim (arch/ring_words.hpp)
//   +128          Mark[chunks]  for each chunk: the first record that begins in it
//   +data_offset  data, 2^size_log2 bytes
//
// Who writes: producers, one at a time per ring (a restartable sequence on the ring's CPU, or the holder of the
// claim). Who reads: anyone, read-only, without stopping a writer. Nobody trusts what stands here: a producer
// bounds every index it takes from it, a reader copies first and checks afterwards.
//
// Positions are 64-bit, count bytes ever written, and only grow; position p lies at byte p mod size. A record
// is 8-byte aligned and does not cross the end of the ring: where it would, a filler record (event 0xffff)
// takes the rest of the lap; where fewer than 16 bytes are left in the lap the filler is implied.
//
// Invariants
//   1. Everything in [tail - size, tail) that no later write touched is whole records.
//   2. tail and count change in one store (the commit). A writer that is killed, preempted or interrupted
//      before it leaves both as they were.
//   3. Before a byte at position p is touched, intent > p. So what a reader copied from position q is intact if
//      afterwards intent - size <= q. intent never falls, so bytes spoilt by a writer that never committed
//      stay accounted for.
//   4. When a commit moves the tail into another chunk, it first sets that chunk's mark to the new (tail, count),
//      and those of the chunks it skips too: a mark there, left by a writer that never committed, would
//      point into the middle of this record.
//      A mark is valid if its position lies in the chunk, in a lap that is still intact, and not beyond tail.
//      A reader that was lapped goes on at the oldest valid mark; mark.count - own count is what it lost.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "arch/ring_words.hpp"

namespace landtrace::ring {

using arch::Mark;
using arch::RingWords;
using arch::Segment;

inline constexpr std::uint32_t kMaxPayload = 64 * 1024;
inline constexpr std::uint16_t kFillerEvent = 0xffff;
inline constexpr std::uint64_t kPage = 4096;
inline constexpr std::uint32_t kMinSizeLog2 = 18;  // 256 KiB: two of the largest records and some
inline constexpr std::uint32_t kMaxSizeLog2 = 34;

struct RecordHeader {
  std::uint64_t clock;  // raw
  std::uint32_t tid;
  std::uint16_t event;
  std::uint16_t words;  // payload length in 4-byte units, rounded up
};
static_assert(sizeof(RecordHeader) == arch::kRecordHeader);

// Payload bytes to bytes in the ring.
constexpr std::uint64_t record_length(std::uint64_t payload) { return (arch::kRecordHeader + payload + 7) & ~7ull; }
constexpr std::uint64_t record_word(std::uint32_t tid, std::uint16_t event, std::uint64_t payload) {
  return tid | static_cast<std::uint64_t>(event) << 32 | ((payload + 3) / 4) << 48;
}

// Where things are in a ring of 2^size_log2 bytes.
struct Geometry {
  std::uint32_t size_log2 = kMinSizeLog2;

  [[nodiscard]] constexpr std::uint64_t size() const { return 1ull << size_log2; }
  // At most 1024 chunks of at least a page: the finer they are the less a lapped reader skips.
  [[nodiscard]] constexpr std::uint32_t chunk_shift() const { return std::max(12u, size_log2 - 10); }
  [[nodiscard]] constexpr std::uint64_t chunks() const { return size() >> chunk_shift(); }
  [[nodiscard]] static constexpr std::uint64_t marks_offset() { return 128; }
  [[nodiscard]] constexpr std::uint64_t data_offset() const {
    return (marks_offset() + chunks() * sizeof(Mark) + kPage - 1) & ~(kPage - 1);
  }
  // Distance from one ring of a set to the next.
  [[nodiscard]] constexpr std::uint64_t stride() const { return data_offset() + size(); }

  // The smallest ring that holds `bytes`, within the limits.
  static constexpr Geometry holding(std::uint64_t bytes) {
    const auto log2 = static_cast<std::uint32_t>(std::bit_width(std::max<std::uint64_t>(bytes, 1) - 1));
    return {std::clamp(log2, kMinSizeLog2, kMaxSizeLog2)};
  }
};

// A geometry with everything that a writer needs of it computed. It stands ready in the plans of a domain, so that no
// event pays for the computation. The first four members are in the order of arch::WriteRequest, where they are copied.
struct PreparedGeometry {
  std::uint64_t size;
  std::uint64_t offset_mask;  // size - 8
  std::uint64_t marks_mask;   // number of chunks - 1
  std::uint64_t chunk_shift;
  std::uint64_t stride;
  std::uint32_t data_offset;
  std::uint32_t size_log2;

  constexpr PreparedGeometry(Geometry geometry)  // NOLINT: it is the same thing
      : size(geometry.size()),
        offset_mask(geometry.size() - 8),
        marks_mask(geometry.chunks() - 1),
        chunk_shift(geometry.chunk_shift()),
        stride(geometry.stride()),
        data_offset(static_cast<std::uint32_t>(geometry.data_offset())),
        size_log2(geometry.size_log2) {}
  constexpr operator Geometry() const { return {size_log2}; }  // NOLINT
};
static_assert(sizeof(PreparedGeometry) == 48);

// What `consumed` holds in overwrite mode: no position gets there.
inline constexpr std::uint64_t kNeverFull = 1ull << 62;

}  // namespace landtrace::ring
