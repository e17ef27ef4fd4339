// The restartable ring write for x86-64. In pseudocode, between `start` and `commit`:
//
//     if (held and area.rseq_cs is not ours)          restart
//     if (area.cpu_id != cpu)                         restart
//     time = time stamp counter                       first, as it is long in coming
//     tail = ring.tail; end = tail + length
//     if (signed(end - *consumed) > size)             full
//     offset = tail & offset_mask
//     if (offset + length > size)                     fill the lap up with a filler record, commit, wrapped
//     ring.intent = max(ring.intent, end)             before the first byte is touched
//     data[offset] = { time, word, segments..., zero padding }
//     next = { end, ring.count + 1 }
//     for each chunk after tail's, up to end's        marks[chunk] = next
//     ring.{tail,count} = next                        one 16-byte store: the commit
//
// A held write (write.hpp) finds its descriptor armed, and takes the time that it is given. Where the thread was
// interrupted before the first instruction of the sequence, the kernel has disarmed it; from there on it aborts. So
// what was armed is looked at inside.
//
// The kernel jumps to the abort label when the thread is preempted, migrated or gets a signal in between. A kill leaves
// the old tail, so a record is there wholly or not at all. `intent` and the mark of a chunk that was not reached are
// allowed to run ahead: readers use them only within what the tail covers.
//
// The commit is one aligned SSE store: no instruction can be interrupted in the middle, and other CPUs see it whole on
// every processor with AVX (both vendors document it). rseq_usable() says no on others.
//
// Order: x86-64 makes stores visible in the order of the program, and those of `rep movsb` before any store behind it.
// So the commit is the release that load_mark() in ring/reader.cc pairs with, and the intent is seen before the bytes,
// as the fence in Reader::read() there counts on. Loads are in order, too: that of *consumed is the acquire for the
// owner's Instances::set_consumed(). Nothing has to be ordered against other writers, since there is none on this CPU.
//
// Failure points (LT_POINT) are compiled in for the tests only: the process dies at the chosen one.
#include "arch/count_rseq.hpp"
#include "arch/kept_vectors.hpp"
#include "arch/write.hpp"
#include "arch/write_kinds.hpp"

#if defined(__x86_64__)

// Assembly reads by its columns.
// clang-format off
#ifdef LANDTRACE_INJECT
extern "C" {
volatile int landtrace_inject_point = 0;
}
#define LT_POINT(n)                                        \
  "cmpl $" #n ", landtrace_inject_point(%%rip)\n\t"        \
  "jne 9f\n\t"                                             \
  "ud2\n\t"                                                \
  "9:\n\t"
#else
#define LT_POINT(n)
#endif

// The one that the commit goes through.
#ifdef LANDTRACE_AGENT
#define LT_VECTORS
#else
#define LT_VECTORS , "xmm0"
#endif

// Sets the marks of the chunks that the commit in xmm0 moves into or across, r9 being the tail and r10 the end;
// changes rax, rcx, r9 and r10. An end that a hostile tail made overflow sets none.
#define LT_MARK_CHUNKS(point)                            \
  "movq %c[o_chunk_shift](%[request]), %%rcx\n\t"        \
  "shrq %%cl, %%r9\n\t"                                 \
  "shrq %%cl, %%r10\n\t"                                \
  "14:\n\t"                                             \
  "cmpq %%r10, %%r9\n\t"                                \
  "jae 15f\n\t"                                         \
  "incq %%r9\n\t"                                       \
  "movq %%r9, %%rax\n\t"                                \
  "andq %c[o_marks_mask](%[request]), %%rax\n\t"        \
  "shlq $4, %%rax\n\t"                                  \
  "addq %c[o_marks](%[request]), %%rax\n\t"             \
  "movdqa %%xmm0, (%%rax)\n\t"                          \
  point                                                 \
  "jmp 14b\n\t"                                         \
  "15:\n\t"

namespace landtrace::arch {
namespace {

// `time` is of a held write.
template <bool kIsHeld>
__attribute__((always_inline)) inline WriteOutcome write_once(const WriteRequest& request, RseqArea* area,
                                                              std::uint32_t cpu, RingWords* at, std::uint64_t time) {
  register RingWords* const ring asm("r8") = at;
#ifdef LANDTRACE_AGENT
  const CommitVectorKept kept;
#endif
  asm goto(
      LT_RSEQ_DESCRIPTOR(LT_IF_HELD(LT_HELD_SYMBOL))
      "leaq 3b(%%rip), %%rax\n\t"
      LT_UNLESS_HELD("movq %%rax, 8(%[area])\n\t")
      "1:\n\t"
      LT_IF_HELD("cmpq %%rax, 8(%[area])\n\t"
                 "jne %l[restarted]\n\t")
      "cmpl %[cpu], 4(%[area])\n\t"
      "jne %l[restarted]\n\t"
      LT_POINT(1)
      LT_IF_HELD("movq %[time], %%rdx\n\t")
      LT_UNLESS_HELD("rdtsc\n\t"                          // takes its time; the rest goes on beside it
                     "shlq $32, %%rdx\n\t"
                     "orq %%rax, %%rdx\n\t")
      "movq %c[o_length](%[request]), %%r11\n\t"
      "movq %c[o_size](%[request]), %%rsi\n\t"
      "movq (%%r8), %%r9\n\t"                             // tail
      "leaq (%%r9, %%r11), %%r10\n\t"                     // end
      "movq %c[o_consumed](%[request]), %%rax\n\t"
      "movq %%r10, %%rcx\n\t"
      "subq (%%rax), %%rcx\n\t"
      "cmpq %%rsi, %%rcx\n\t"
      "jg %l[full]\n\t"
      "movq %c[o_offset_mask](%[request]), %%rax\n\t"
      "andq %%r9, %%rax\n\t"                              // offset
      "movq %c[o_data](%[request]), %%rdi\n\t"
      "addq %%rax, %%rdi\n\t"                             // where the record goes
      "leaq (%%rax, %%r11), %%rcx\n\t"
      "cmpq %%rsi, %%rcx\n\t"
      "jbe 5f\n\t"

      // Filler up to the end of the lap.
      LT_POINT(2)
      "subq %%rax, %%rsi\n\t"                             // bytes left in this lap
      "leaq (%%r9, %%rsi), %%r10\n\t"
      "cmpq %%r10, 16(%%r8)\n\t"
      "jae 6f\n\t"
      "movq %%r10, 16(%%r8)\n\t"
      "6:\n\t"
      LT_POINT(3)
      "cmpq $16, %%rsi\n\t"
      "jb 6f\n\t"
      "movabsq %[filler], %%rax\n\t"
      "movq %%rax, 8(%%rdi)\n\t"
      "6:\n\t"
      LT_POINT(4)
      "movq %%r10, %%xmm0\n\t"
      "movhps 8(%%r8), %%xmm0\n\t"
      LT_MARK_CHUNKS("")
      LT_POINT(5)
      "movdqa %%xmm0, (%%r8)\n\t"
      LT_POINT(6)
      "jmp %l[wrapped]\n\t"

      // The record.
      "5:\n\t"
      "cmpq %%r10, 16(%%r8)\n\t"
      "jae 6f\n\t"
      "movq %%r10, 16(%%r8)\n\t"
      "6:\n\t"
      LT_POINT(7)
      "movq $0, -8(%%rdi, %%r11)\n\t"                     // padding, before the payload covers it
      "movq %%rdx, (%%rdi)\n\t"
      LT_POINT(8)
      "movq %c[o_word](%[request]), %%rax\n\t"
      "movq %%rax, 8(%%rdi)\n\t"
      "addq $16, %%rdi\n\t"
      LT_POINT(9)
      "movq %c[o_segments](%[request]), %%rdx\n\t"
      "movq %c[o_segment_count](%[request]), %%r11\n\t"
      "testq %%r11, %%r11\n\t"
      "jz 8f\n\t"
      "7:\n\t"                                            // one segment
      "movq (%%rdx), %%rsi\n\t"
      "movq 8(%%rdx), %%rcx\n\t"
      "cmpq $128, %%rcx\n\t"
      "ja 10f\n\t"
      "subq $8, %%rcx\n\t"
      "jb 12f\n\t"
      "11:\n\t"
      "movq (%%rsi), %%rax\n\t"
      "movq %%rax, (%%rdi)\n\t"
      "addq $8, %%rsi\n\t"
      "addq $8, %%rdi\n\t"
      "subq $8, %%rcx\n\t"
      "jae 11b\n\t"
      "12:\n\t"                                           // of what is left, 0 to 7 bytes, rcx has the low bits
      "testb $7, %%cl\n\t"
      "jz 13f\n\t"
      "testb $4, %%cl\n\t"
      "jz 16f\n\t"
      "movl (%%rsi), %%eax\n\t"
      "movl %%eax, (%%rdi)\n\t"
      "addq $4, %%rsi\n\t"
      "addq $4, %%rdi\n\t"
      "16:\n\t"
      "testb $2, %%cl\n\t"
      "jz 17f\n\t"
      "movzwl (%%rsi), %%eax\n\t"
      "movw %%ax, (%%rdi)\n\t"
      "addq $2, %%rsi\n\t"
      "addq $2, %%rdi\n\t"
      "17:\n\t"
      "testb $1, %%cl\n\t"
      "jz 13f\n\t"
      "movzbl (%%rsi), %%eax\n\t"
      "movb %%al, (%%rdi)\n\t"
      "incq %%rdi\n\t"
      "jmp 13f\n\t"
      "10:\n\t"                                           // long ones: the start-up cost is worth it
      "rep movsb\n\t"
      "13:\n\t"
      "addq $16, %%rdx\n\t"
      "decq %%r11\n\t"
      "jnz 7b\n\t"
      "8:\n\t"
      LT_POINT(10)
      "movq %%r10, %%xmm0\n\t"
      "movq 8(%%r8), %%rax\n\t"
      "incq %%rax\n\t"
      "pinsrq $1, %%rax, %%xmm0\n\t"
      LT_MARK_CHUNKS(LT_POINT(11))
      LT_POINT(12)
      "movdqa %%xmm0, (%%r8)\n\t"
      LT_RSEQ_END(LT_UNLESS_HELD(LT_RESTART_SYMBOL))
      LT_POINT(13)
      :
      : [request] "r"(&request), [area] "r"(area), [cpu] "r"(cpu), [time] "rm"(time),
        [is_held] "i"(kIsHeld ? 1 : 0), [filler] "i"(kFillerWord),
        [ring] "r"(ring), [o_data] "i"(offsetof(WriteRequest, data)),
        [o_marks] "i"(offsetof(WriteRequest, marks)), [o_consumed] "i"(offsetof(WriteRequest, consumed)),
        [o_size] "i"(offsetof(WriteRequest, size)), [o_offset_mask] "i"(offsetof(WriteRequest, offset_mask)),
        [o_marks_mask] "i"(offsetof(WriteRequest, marks_mask)),
        [o_chunk_shift] "i"(offsetof(WriteRequest, chunk_shift)),
        [o_length] "i"(offsetof(WriteRequest, length)), [o_word] "i"(offsetof(WriteRequest, word)),
        [o_segments] "i"(offsetof(WriteRequest, segments)),
        [o_segment_count] "i"(offsetof(WriteRequest, segment_count))
      : "memory", "cc", "rax", "rcx", "rdx", "rsi", "rdi", "r9", "r10", "r11" LT_VECTORS
      : restarted, full, wrapped);
  return WriteOutcome::kCommitted;
// A jump out of the sequence leaves it armed; the kernel disarms it at the next interruption, and so does the
// next write. Only the committed path promises to leave nothing behind.
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

LT_ONE_COPY WriteOutcome write_rseq(const WriteRequest& request, RseqArea* area, std::uint32_t cpu, RingWords* at) {
  return write_once<false>(request, area, cpu, at, 0);
}
LT_ONE_COPY WriteOutcome write_rseq_held(const WriteRequest& request, RseqArea* area, std::uint32_t cpu, RingWords* at,
                                         std::uint64_t time) {
  return write_once<true>(request, area, cpu, at, time);
}

// clang-format on

}  // namespace landtrace::arch

#elif !defined(__aarch64__)  // no restartable write for this CPU: rseq_usable() is false, and nobody calls these

namespace landtrace::arch {
WriteOutcome write_rseq(const WriteRequest&, RseqArea*, std::uint32_t, RingWords*) { __builtin_trap(); }
WriteOutcome write_rseq_held(const WriteRequest&, RseqArea*, std::uint32_t, RingWords*, std::uint64_t) {
  __builtin_trap();
}
}  // namespace landtrace::arch

#endif
