// The words of a ring in shared memory that the write sequences touch. src/producer/ring/layout.hpp says what they
// mean together; this header is below it so that the sequences can be written per CPU.
//
//   offset  0   tail      position after the last committed record   } written together, by one 16-byte
//           8   count     records committed so far                   } store: the commit
//          16   intent    no byte at or beyond this position has been touched (>= tail, only grows)
//          24   discarded events that found no room (discard mode)
//          32   claim     thread id of an exclusive writer, 0 when free (portable rings only)
#pragma once

#include <cstddef>
#include <cstdint>

namespace landtrace::arch {

struct alignas(16) Mark {
  std::uint64_t position;
  std::uint64_t count;
};

struct alignas(64) RingWords {
  Mark commit;
  std::uint64_t intent;
  std::uint64_t discarded;
  std::uint32_t claim;
  std::uint32_t reserved[7];
};
static_assert(sizeof(RingWords) == 64);
static_assert(offsetof(RingWords, intent) == 16 && offsetof(RingWords, discarded) == 24);

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

// All that a write needs, computed before the sequence begins. The sequences load it by offset.
struct WriteRequest {
  RingWords* ring;
  std::byte* data;                // the ring's bytes
  Mark* marks;                    // one per chunk
  const std::uint64_t* consumed;  // how far the consumer is; far ahead in overwrite mode
  std::uint64_t size;             // bytes in the ring, a power of two
  std::uint64_t offset_mask;      // size - 8
  std::uint64_t marks_mask;       // number of chunks - 1
  std::uint64_t chunk_shift;
  std::uint64_t length;     // of the whole record, a multiple of 8, at most size / 2
  std::uint64_t word;       // second header word: thread id, event, payload length in 4-byte units
  const Segment* segments;  // their sizes add up to the payload
  std::uint64_t segment_count;
};

enum class WriteOutcome : std::uint8_t {
  kCommitted,
  kRestarted,  // moved to another CPU, preempted or interrupted: nothing was written, look up the CPU again
  kWrapped,    // the rest of this lap was filled up; try again
  kFull,       // the consumer is a whole ring behind
};

}  // namespace landtrace::arch
