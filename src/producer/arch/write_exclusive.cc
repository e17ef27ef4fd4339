// The portable ring write: the steps of write_rseq.cc in C++, for a ring that one writer has claimed. A kill in the
// middle leaves the old tail, and a claim that the owner frees once it finds its holder dead.
#include <atomic>
#include <cstring>

#include "arch/write.hpp"
#include "arch/kept_vectors.hpp"
#if defined(__x86_64__) && !defined(LANDTRACE_AGENT)
#include <emmintrin.h>
#endif

namespace landtrace::arch {
namespace {

// The commit, and the marks: whoever sees it sees everything before it. Pairs with the acquire in load_mark(),
// ring/reader.cc.
void store_mark(Mark* target, std::uint64_t position, std::uint64_t count) {
#if defined(LANDTRACE_AGENT) && defined(__x86_64__)
  const CommitVectorKept kept;
  asm volatile(
      "movq %[position], %%xmm0\n\t"
      "movhps %[count], %%xmm0\n\t"
      "movdqa %%xmm0, %[target]"
      : [target] "=m"(*target)
      : [position] "r"(position), [count] "m"(count)
      : "memory");
#elif defined(__x86_64__)
  asm volatile("" ::: "memory");  // x86 keeps stores in order; the compiler has to as well
  _mm_store_si128(reinterpret_cast<__m128i*>(target),
                  _mm_set_epi64x(static_cast<long long>(count), static_cast<long long>(position)));
  asm volatile("" ::: "memory");
#elif defined(__aarch64__)
  // The two words at once, which a plain store of a pair is not on every processor. It fails only where somebody else
  // writes to the line in between, and is done again.
  std::uint64_t was_position, was_count;
  std::uint32_t failed;
  do {
    asm volatile(
        "ldxp %[was_position], %[was_count], %[target]\n\t"
        "stlxp %w[failed], %[position], %[count], %[target]"
        : [was_position] "=&r"(was_position), [was_count] "=&r"(was_count), [failed] "=&r"(failed),
          [target] "+Q"(*target)
        : [position] "r"(position), [count] "r"(count)
        : "memory");
  } while (failed != 0);
#else
  // Two stores: a kill between them makes `count` one too high for the reader's loss figure, but never tears a record.
  // The position goes last, as it publishes the record; pairs with the acquire loads in load_mark(), ring/reader.cc.
  __atomic_store_n(&target->count, count, __ATOMIC_RELAXED);
  __atomic_store_n(&target->position, position, __ATOMIC_RELEASE);
#endif
}

void announce(RingWords* ring, std::uint64_t end) {
  const std::uint64_t intent = __atomic_load_n(&ring->intent, __ATOMIC_RELAXED);
  if (intent < end) __atomic_store_n(&ring->intent, end, __ATOMIC_RELAXED);
  // The announcement is seen before any byte that it announces: pairs with the acquire fence in Reader::read(),
  // ring/reader.cc.
  std::atomic_thread_fence(std::memory_order_release);
}

void commit(const WriteRequest& request, std::uint64_t tail, std::uint64_t end, std::uint64_t count) {
  const std::uint64_t last = end >> request.chunk_shift;
  for (std::uint64_t chunk = tail >> request.chunk_shift; chunk < last;) {
    ++chunk;
    store_mark(&request.marks[chunk & request.marks_mask], end, count);
  }
  store_mark(&request.ring->commit, end, count);
}

// The CPU may read its counter ahead of what stands before it. The holder of the claim before this one may have read
// another CPU's, so without the fence times could go backwards in the ring.
std::uint64_t read_clock_in_order(RawClock clock) {
#if defined(__x86_64__)
  asm volatile("lfence" ::: "memory");
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
  return read_raw_clock(clock);
}

}  // namespace

WriteOutcome write_exclusive(const WriteRequest& request, RawClock clock) {
  RingWords* const ring = request.ring;
  const Mark last = ring->commit;
  const std::uint64_t end = last.position + request.length;
  // Pairs with the release store in the owner's Instances::set_consumed(): the consumer has copied what is overwritten
  // from here on.
  const std::uint64_t consumed = __atomic_load_n(request.consumed, __ATOMIC_ACQUIRE);
  if (static_cast<std::int64_t>(end - consumed) > static_cast<std::int64_t>(request.size)) {
    return WriteOutcome::kFull;
  }
  const std::uint64_t offset = last.position & request.offset_mask;
  std::byte* at = request.data + offset;
  if (offset + request.length > request.size) {
    const std::uint64_t left = request.size - offset;
    announce(ring, last.position + left);
    if (left >= kRecordHeader) std::memcpy(at + 8, &kFillerWord, sizeof kFillerWord);
    commit(request, last.position, last.position + left, last.count);
    return WriteOutcome::kWrapped;
  }
  announce(ring, end);
  // The padding, before the payload covers what it needs of it.
  std::memset(at + request.length - 8, 0, 8);
  const std::uint64_t now = read_clock_in_order(clock);
  std::memcpy(at, &now, sizeof now);
  std::memcpy(at + 8, &request.word, sizeof request.word);
  at += kRecordHeader;
  for (std::uint64_t i = 0; i < request.segment_count; ++i) {
    const Segment& segment = request.segments[i];
    // The data of an empty one may be null, which memcpy does not take.
    if (segment.size == 0) continue;
    std::memcpy(at, segment.data, segment.size);
    at += segment.size;
  }
  commit(request, last.position, end, last.count + 1);
  return WriteOutcome::kCommitted;
}

}  // namespace landtrace::arch
