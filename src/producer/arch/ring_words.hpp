// The words of a ring in shared memory that a write touches, and what it is told. What the words mean together stands
// in ring/layout.hpp; this header is below that one, so that the write can be written per CPU.
//
//   RingWords, a cache line that no other ring has a part in
//
//       0         8         16        24          32      36       40              48       64
//       +---------+---------+---------+-----------+-------+--------+---------------+--------+
//       | tail    | count   | intent  | discarded | claim | unused | discarded_odd | unused |
//       +---------+---------+---------+-----------+-------+--------+---------------+--------+
//       \____ commit _______/
//
//   tail       position after the last committed record
//   count      records committed so far; written together with the tail, by one 16-byte store: the commit
//   intent     no byte at or beyond this position has been touched; at least the tail, and it only grows
//   discarded  events that found no room (discard mode), in even turns of the consumer; discarded_odd: in odd ones
//              (ring/layout.hpp)
//   claim      who writes the ring now: a thread's id, with plan::kForeignClaim or without; 0: nobody. Only in rings of
//              the portable write; the ring of a CPU needs none
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/shared_layout.hpp"

namespace landtrace::arch {

struct alignas(16) Mark {
  std::uint64_t position;
  std::uint64_t count;
};
LT_SHARED(Mark, 16, 16);
LT_SHARED_AT(Mark, position, 0);
LT_SHARED_AT(Mark, count, 8);

struct alignas(64) RingWords {
  Mark commit;
  std::uint64_t intent;
  std::uint64_t discarded;
  std::uint32_t claim;
  std::uint32_t reserved;
  std::uint64_t discarded_odd;
  std::uint64_t reserved_too[2];
};
LT_SHARED(RingWords, 64, 64);
// write_rseq.cc has these as numbers.
LT_SHARED_AT(RingWords, commit, 0);
LT_SHARED_AT(RingWords, intent, 16);
LT_SHARED_AT(RingWords, discarded, 24);
LT_SHARED_AT(RingWords, claim, 32);
LT_SHARED_AT(RingWords, discarded_odd, 40);

// A piece of a payload, gathered in order. It is laid out as struct iovec, so that an array of one is an array of the
// other, for which it may alias.
struct __attribute__((may_alias)) Segment {
  const void* data;
  std::size_t size;
};
static_assert(sizeof(Segment) == 16);

// A record is two words, then the payload, padded to 8 bytes.
inline constexpr std::uint32_t kRecordHeader = 16;
// Second header word of the filler before the end of a ring: event 0xffff, no payload.
inline constexpr std::uint64_t kFillerWord = 0x0000'ffff'0000'0000u;

// All that a write needs, computed before the sequence begins, because inside it every instruction counts. It lies on
// the writer's stack, is shared with nobody, and the sequences load it by offset.
struct WriteRequest {
  RingWords* ring;
  // The ring's bytes.
  std::byte* data;
  // One per chunk.
  Mark* marks;
  // How far the consumer is, with its turn (ring/layout.hpp); far ahead in overwrite mode.
  const std::uint64_t* consumed;

  // As in ring::PreparedGeometry, from which they are copied.
  // Bytes in the ring, a power of two.
  std::uint64_t size;
  // size - 8.
  std::uint64_t offset_mask;
  // Number of chunks - 1.
  std::uint64_t marks_mask;
  std::uint64_t chunk_shift;

  // Of the whole record: a multiple of 8, at most size / 2.
  std::uint64_t length;
  // Second header word: thread id, event, payload length in 4-byte units.
  std::uint64_t word;
  // Their sizes add up to the payload.
  const Segment* segments;
  std::uint64_t segment_count;
};

enum class WriteOutcome : std::uint8_t {
  kCommitted,
  kRestarted,  // moved to another CPU, preempted or interrupted: nothing was written, look up the CPU again
  kWrapped,    // the rest of this lap was filled up; try again
  kFull,       // the consumer is a whole ring behind
};

}  // namespace landtrace::arch
