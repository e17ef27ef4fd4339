// A ring in shared memory: one per CPU, instance and user, and some more that writers claim (ring/writer.hpp).
//
//   offset       what                              size
//   0            RingWords (arch/ring_words.hpp)   64
//   64           unused                            64
//   128          Mark[chunks]                      16 each
//   data_offset  data                              2^size_log2
//   stride       the next ring of the set                   data_offset and stride are multiples of a page
//
// Positions are 64-bit, count bytes ever written, and only grow; position p lies at byte p mod size of the data. In the
// order of positions:
//
//     tail - size      intent - size                               tail            intent
//          |                 |                                       |                |
//     -----+-----------------+---------------------------------------+----------------+-----
//          |  may be spoilt  |  whole records, for whoever reads     |  being written |
//     -----+-----------------+---------------------------------------+----------------+-----
//          \______ A _______/                                        \______ A _______/
//
// Both stretches A are the same bytes of the ring: while a writer fills [tail, intent), and after one died there, what
// was written there a lap ago cannot be trusted any more. Between two writes tail and intent are equal, unless a writer
// died, or was interrupted and went on on another CPU.
//
// The data is divided into chunks, and each chunk has a mark: where the first record that begins in it stands, and how
// many records there were before that one.
//
//           chunk 4              chunk 5              chunk 6              chunk 7
//     |--------------------|--------------------|--------------------|--------------------|
//        ][  90  ][     91     ][   92   ][               93               ][  94  ]
//         ^                     ^                                           ^       ^
//         mark 4                mark 5                             marks 6, 7       tail
//         count 90              count 92                           count 94         count 95
//
// Mark 6 is invalid: no record begins in chunk 6, so the commit of record 93 set it to a position that is not in its
// chunk.
//
// A record is a header of 16 bytes and a payload, padded to 8 bytes. It does not cross the end of the ring: where it
// would, a filler record (event 0xffff) takes the rest of the lap; where fewer than 16 bytes are left in the lap, the
// filler is implied.
//
// In discard mode a writer needs room up to one size behind `consumed`, the position up to which the consumer has taken
// what there was. A record that does not fit is discarded, and counted. Each position that the consumer tells begins a
// turn, whose number is odd or even, which the lowest bit of `consumed` says (kOddTurn; positions are multiples of 8).
// Discarded events are counted by turn: those of one turn are missing before the first record that ends more than a
// size behind that turn's position, however late the consumer looks at the figures.
//
// Who writes: producers, one at a time per ring (a restartable sequence on the ring's CPU, or the holder of the claim).
// A writer may be killed at any instruction. Who reads: anyone, read-only, without stopping a writer. Nobody trusts
// what stands here: a producer bounds every index that it takes from it, a reader copies first and checks afterwards.
//
// Invariants
//   1. Every record that begins in [intent - size, tail) is whole.
//   2. tail and count change in one store, the commit. A writer that is killed, preempted or interrupted before it
//      leaves both as they were.
//   3. Before a byte at position p is touched, intent > p. So what a reader copied from position q on is intact if
//      intent - size <= q afterwards. intent never falls, so bytes that were spoilt by a writer that never committed
//      stay accounted for.
//   4. A commit that moves the tail into another chunk first sets that chunk's mark to the new (tail, count), and those
//      of the chunks that it skips, too: a mark there that a writer left which never committed would point into the
//      middle of this record.
//      A mark is valid if its position lies in the chunk, at or after intent - size, and not beyond the tail. A reader
//      that was lapped goes on at the oldest valid mark; mark.count - own count is what it lost.
//
// Order, and what pairs with what (x86-64 keeps loads in order, and stores; there the compiler alone has to be told)
//   intent, then the record's bytes        release fence in announce(), arch/write_exclusive.cc
//     -> bytes, then intent                acquire fence in Reader::read(): invariant 3
//   bytes and marks, then the commit       release in store_mark(), arch/write_exclusive.cc
//     -> commit, then bytes and marks      acquire in load_mark(), reader.cc: invariants 1 and 4
//   bytes were copied, then consumed       release store in the owner's Instances::set_consumed()
//     -> consumed, then intent and bytes   acquire load in write_exclusive(): in discard mode nothing is overwritten
//                                          that the consumer is still copying
//   tail, then the claim is given up       release store in write_if_unclaimed(), writer.cc
//     -> claim taken, then tail            acquire exchange there: a writer goes on where the one before it ended
//     -> no claim, then tail               acquire load in Reader::is_claimed(): no older record is to come, for
//                                          readers who merge rings by time
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "arch/ring_words.hpp"

namespace landtrace::ring {

using arch::Mark;
using arch::RingWords;
using arch::Segment;

inline constexpr std::uint32_t kMaxPayload = 64 * 1024;
inline constexpr std::uint16_t kFillerEvent = 0xffff;
inline constexpr std::uint64_t kPage = 4096;
// 256 KiB: two of the largest records and some.
inline constexpr std::uint32_t kMinSizeLog2 = 18;
inline constexpr std::uint32_t kMaxSizeLog2 = 34;

struct RecordHeader {
  // Raw: arch/clock.hpp.
  std::uint64_t clock;
  std::uint32_t tid;
  std::uint16_t event;
  // Payload length in 4-byte units, rounded up.
  std::uint16_t words;
};
LT_SHARED(RecordHeader, arch::kRecordHeader, 8);
LT_SHARED_AT(RecordHeader, clock, 0);
LT_SHARED_AT(RecordHeader, tid, 8);
LT_SHARED_AT(RecordHeader, event, 12);
LT_SHARED_AT(RecordHeader, words, 14);

// Payload bytes to bytes in the ring.
constexpr std::uint64_t record_length(std::uint64_t payload) { return (arch::kRecordHeader + payload + 7) & ~7ull; }
constexpr std::uint64_t record_word(std::uint32_t tid, std::uint16_t event, std::uint64_t payload) {
  return tid | static_cast<std::uint64_t>(event) << 32 | ((payload + 3) / 4) << 48;
}
// The writer's word is the reader's header.
static_assert(std::bit_cast<std::array<std::uint64_t, 2>>(RecordHeader{9, 1, 2, 3}) ==
              std::array<std::uint64_t, 2>{9, record_word(1, 2, 12)});
static_assert(record_word(0, kFillerEvent, 0) == arch::kFillerWord);
static_assert((kMaxPayload + 3) / 4 <= 0xffff, "RecordHeader::words");

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

// A geometry with everything that a writer needs of it computed. It stands ready in the plans of a domain, in shared
// memory, so that no event pays for the computation.
struct PreparedGeometry {
  // These four stand as in arch::WriteRequest, so that copying them is two wide loads and stores.
  std::uint64_t size;
  // size - 8.
  std::uint64_t offset_mask;
  // Number of chunks - 1.
  std::uint64_t marks_mask;
  std::uint64_t chunk_shift;

  // From one ring of a set to the next.
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
LT_SHARED(PreparedGeometry, 48, 8);
LT_SHARED_AT(PreparedGeometry, size, 0);
LT_SHARED_AT(PreparedGeometry, offset_mask, 8);
LT_SHARED_AT(PreparedGeometry, marks_mask, 16);
LT_SHARED_AT(PreparedGeometry, chunk_shift, 24);
LT_SHARED_AT(PreparedGeometry, stride, 32);
LT_SHARED_AT(PreparedGeometry, data_offset, 40);
LT_SHARED_AT(PreparedGeometry, size_log2, 44);
static_assert(offsetof(arch::WriteRequest, chunk_shift) - offsetof(arch::WriteRequest, size) ==
              offsetof(PreparedGeometry, chunk_shift) - offsetof(PreparedGeometry, size));

// What `consumed` holds in overwrite mode: no position gets there.
inline constexpr std::uint64_t kNeverFull = 1ull << 62;
// Set in `consumed` in odd turns. Whether a record fits does not depend on it, as lengths are multiples of 8, too.
inline constexpr std::uint64_t kOddTurn = 1;

}  // namespace landtrace::ring
