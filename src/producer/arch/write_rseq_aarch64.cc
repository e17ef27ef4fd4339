// The restartable ring write for aarch64: the steps that write_rseq.cc, the one for x86-64, has in pseudocode. What
// differs:
//
// The commit, and each mark, is a pair of exclusive instructions, ldxp and stlxp: the one 16-byte store that other CPUs
// see whole on every processor (stp is one only with FEAT_LSE2). The last instruction of the sequence is the commit's
// stlxp. It may fail, as it does where somebody else has written to the line in between: nothing is committed then, and
// the write is tried again from the start, as after an abort.
//
// Order: stlxp is a release, of all that was stored before it, which load_mark() in ring/reader.cc pairs with. `dmb
// ishst` lets the intent be seen before the bytes, as the fence in Reader::read() there counts on. The load of
// *consumed is an acquire, for the owner's Instances::set_consumed().
//
// The time is the virtual counter's. `isb` keeps the CPU from having read it before the sequence began: times within a
// ring do not go backwards.
#include "arch/count_rseq.hpp"
#include "arch/write.hpp"
#include "arch/write_kinds.hpp"

#if defined(__aarch64__)

// Assembly reads by its columns.
// clang-format off
#ifdef LANDTRACE_INJECT
extern "C" {
volatile int landtrace_inject_point = 0;
}
#define LT_POINT(n)                                        \
  "adrp x17, landtrace_inject_point\n\t"                   \
  "ldr w17, [x17, :lo12:landtrace_inject_point]\n\t"       \
  "cmp w17, #" #n "\n\t"                                   \
  "b.ne 9f\n\t"                                            \
  "udf #0\n\t"                                             \
  "9:\n\t"
#else
#define LT_POINT(n)
#endif

// Raises the intent to the end in x14; changes x9.
#define LT_ANNOUNCE                                 \
  "ldr x9, [%[ring], #16]\n\t"                      \
  "cmp x9, x14\n\t"                                 \
  "b.hs 6f\n\t"                                     \
  "str x14, [%[ring], #16]\n\t"                     \
  "6:\n\t"                                          \
  "dmb ishst\n\t"

// Stores the pair x14 (end) and x13 (count); w17 is not 0 where it did not. Changes x9 and x16.
#define LT_STORE_MARK(at)                           \
  "ldxp x9, x16, [" at "]\n\t"                      \
  "stlxp w17, x14, x13, [" at "]\n\t"

// Sets the marks of the chunks that the commit moves into or across, x12 being the tail and x14 the end; changes x9,
// x10, x11, x12, x16 and x17. An end that a hostile tail made overflow sets none.
#define LT_MARK_CHUNKS(point)                       \
  "ldr x9, [%[request], %[o_chunk_shift]]\n\t"      \
  "lsr x12, x12, x9\n\t"                            \
  "lsr x10, x14, x9\n\t"                            \
  "14:\n\t"                                         \
  "cmp x12, x10\n\t"                                \
  "b.hs 15f\n\t"                                    \
  "add x12, x12, #1\n\t"                            \
  "ldr x9, [%[request], %[o_marks_mask]]\n\t"       \
  "and x9, x9, x12\n\t"                             \
  "ldr x11, [%[request], %[o_marks]]\n\t"           \
  "add x11, x11, x9, lsl #4\n\t"                    \
  LT_STORE_MARK("x11")                              \
  "cbnz w17, %l[restarted]\n\t"                     \
  point                                             \
  "b 14b\n\t"                                       \
  "15:\n\t"

namespace landtrace::arch {
namespace {

// `time` is of a held write.
template <bool kIsHeld>
__attribute__((always_inline)) inline WriteOutcome write_once(const WriteRequest& request, RseqArea* area,
                                                              std::uint32_t cpu, RingWords* ring, std::uint64_t time) {
  asm goto(
      LT_RSEQ_DESCRIPTOR(LT_IF_HELD(LT_HELD_SYMBOL))
      "adrp x9, 3b\n\t"
      "add x9, x9, :lo12:3b\n\t"
      LT_UNLESS_HELD("str x9, [%[area], #8]\n\t")
      "1:\n\t"
      LT_IF_HELD("ldr x10, [%[area], #8]\n\t"
                 "cmp x9, x10\n\t"
                 "b.ne %l[restarted]\n\t")
      "ldr w9, [%[area], #4]\n\t"
      "cmp w9, %w[cpu]\n\t"
      "b.ne %l[restarted]\n\t"
      LT_POINT(1)
      LT_IF_HELD("mov x13, %[time]\n\t")
      LT_UNLESS_HELD("isb\n\t"
                     "mrs x13, cntvct_el0\n\t")
      "ldr x10, [%[request], %[o_length]]\n\t"
      "ldr x11, [%[request], %[o_size]]\n\t"
      "ldr x12, [%[ring]]\n\t"                            // tail
      "add x14, x12, x10\n\t"                             // end
      "ldr x9, [%[request], %[o_consumed]]\n\t"
      "ldar x9, [x9]\n\t"
      "sub x9, x14, x9\n\t"
      "cmp x9, x11\n\t"
      "b.gt %l[full]\n\t"
      "ldr x9, [%[request], %[o_offset_mask]]\n\t"
      "and x9, x9, x12\n\t"                               // offset
      "ldr x15, [%[request], %[o_data]]\n\t"
      "add x15, x15, x9\n\t"                              // where the record goes
      "add x16, x9, x10\n\t"
      "cmp x16, x11\n\t"
      "b.ls 5f\n\t"

      // Filler up to the end of the lap.
      LT_POINT(2)
      "sub x11, x11, x9\n\t"                              // bytes left in this lap
      "add x14, x12, x11\n\t"
      LT_ANNOUNCE
      LT_POINT(3)
      "cmp x11, #16\n\t"
      "b.lo 6f\n\t"
      "mov x9, %[filler]\n\t"
      "str x9, [x15, #8]\n\t"
      "6:\n\t"
      LT_POINT(4)
      "ldr x13, [%[ring], #8]\n\t"                        // the count stays
      LT_MARK_CHUNKS("")
      LT_POINT(5)
      LT_STORE_MARK("%[ring]")
      "cbnz w17, %l[restarted]\n\t"
      LT_POINT(6)
      "b %l[wrapped]\n\t"

      // The record.
      "5:\n\t"
      LT_ANNOUNCE
      LT_POINT(7)
      "add x9, x15, x10\n\t"
      "str xzr, [x9, #-8]\n\t"                            // padding, before the payload covers it
      "str x13, [x15]\n\t"
      LT_POINT(8)
      "ldr x9, [%[request], %[o_word]]\n\t"
      "str x9, [x15, #8]\n\t"
      "add x15, x15, #16\n\t"
      LT_POINT(9)
      "ldr x10, [%[request], %[o_segments]]\n\t"
      "ldr x11, [%[request], %[o_segment_count]]\n\t"
      "cbz x11, 8f\n\t"
      "7:\n\t"                                            // one segment
      "ldp x16, x17, [x10], #16\n\t"
      "subs x17, x17, #16\n\t"
      "b.lo 12f\n\t"
      "11:\n\t"
      "ldp x9, x13, [x16], #16\n\t"
      "stp x9, x13, [x15], #16\n\t"
      "subs x17, x17, #16\n\t"
      "b.hs 11b\n\t"
      "12:\n\t"                                           // of what is left, 0 to 15 bytes, x17 has the low bits
      "tbz x17, #3, 16f\n\t"
      "ldr x9, [x16], #8\n\t"
      "str x9, [x15], #8\n\t"
      "16:\n\t"
      "tbz x17, #2, 17f\n\t"
      "ldr w9, [x16], #4\n\t"
      "str w9, [x15], #4\n\t"
      "17:\n\t"
      "tbz x17, #1, 18f\n\t"
      "ldrh w9, [x16], #2\n\t"
      "strh w9, [x15], #2\n\t"
      "18:\n\t"
      "tbz x17, #0, 13f\n\t"
      "ldrb w9, [x16]\n\t"
      "strb w9, [x15], #1\n\t"
      "13:\n\t"
      "subs x11, x11, #1\n\t"
      "b.ne 7b\n\t"
      "8:\n\t"
      LT_POINT(10)
      "ldr x13, [%[ring], #8]\n\t"
      "add x13, x13, #1\n\t"
      LT_MARK_CHUNKS(LT_POINT(11))
      LT_POINT(12)
      LT_STORE_MARK("%[ring]")
      LT_RSEQ_END(LT_UNLESS_HELD(LT_RESTART_SYMBOL))
      "cbnz w17, %l[restarted]\n\t"
      LT_POINT(13)
      :
      : [request] "r"(&request), [area] "r"(area), [cpu] "r"(cpu), [time] "r"(time),
        [is_held] "i"(kIsHeld ? 1 : 0), [filler] "i"(kFillerWord),
        [ring] "r"(ring), [o_data] "i"(offsetof(WriteRequest, data)),
        [o_marks] "i"(offsetof(WriteRequest, marks)), [o_consumed] "i"(offsetof(WriteRequest, consumed)),
        [o_size] "i"(offsetof(WriteRequest, size)), [o_offset_mask] "i"(offsetof(WriteRequest, offset_mask)),
        [o_marks_mask] "i"(offsetof(WriteRequest, marks_mask)),
        [o_chunk_shift] "i"(offsetof(WriteRequest, chunk_shift)),
        [o_length] "i"(offsetof(WriteRequest, length)), [o_word] "i"(offsetof(WriteRequest, word)),
        [o_segments] "i"(offsetof(WriteRequest, segments)),
        [o_segment_count] "i"(offsetof(WriteRequest, segment_count))
      : "memory", "cc", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17"
      : restarted, full, wrapped);
  return WriteOutcome::kCommitted;
// A jump out of the sequence leaves it armed: as in write_rseq.cc.
restarted:
  area->rseq_cs = 0;
  return WriteOutcome::kRestarted;
wrapped:
  area->rseq_cs = 0;
  return WriteOutcome::kWrapped;
full:
  area->rseq_cs = 0;
  return WriteOutcome::kFull;
}

}  // namespace

LT_ONE_COPY WriteOutcome write_rseq(const WriteRequest& request, RseqArea* area, std::uint32_t cpu, RingWords* ring) {
  return write_once<false>(request, area, cpu, ring, 0);
}
LT_ONE_COPY WriteOutcome write_rseq_held(const WriteRequest& request, RseqArea* area, std::uint32_t cpu,
                                         RingWords* ring, std::uint64_t time) {
  return write_once<true>(request, area, cpu, ring, time);
}

// clang-format on

}  // namespace landtrace::arch

#endif
