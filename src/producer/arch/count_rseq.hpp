// A restartable sequence is begun and ended so; and the shortest one, which is in line wherever something is counted.
#pragma once

#include "arch/ring_words.hpp"
#include "arch/rseq.hpp"

#if defined(__x86_64__)

// Assembly reads by its columns.
// clang-format off
#define LT_RSEQ_SIGNATURE "0x53053053"  // what glibc registers with on x86

// The descriptor, at label 3, of the sequence from label 1 to label 2, which aborts to label 4. `symbol` names the
// descriptor, or is empty. The ? in its flags: it goes with its function where the linker throws a copy of an inline
// one away, of which there are many without optimization.
#define LT_RSEQ_DESCRIPTOR(symbol)                  \
  ".pushsection __rseq_cs, \"aw?\"\n\t"             \
  ".balign 32\n\t"                                  \
  symbol                                            \
  "3:\n\t"                                          \
  ".long 0, 0\n\t"                                  \
  ".quad 1f, (2f - 1f), 4f\n\t"                     \
  ".popsection\n\t"

// Arms the sequence.
#define LT_RSEQ_BEGIN                               \
  LT_RSEQ_DESCRIPTOR("")                            \
  "leaq 3b(%%rip), %%rax\n\t"                       \
  "movq %%rax, 8(%[area])\n\t"                      \
  "1:\n\t"

// The descriptor is disarmed, so that unloading this code later leaves the kernel nothing to read. `symbol` names the
// abort label, or is empty.
#define LT_RSEQ_END(symbol)                         \
  "2:\n\t"                                          \
  "movq $0, 8(%[area])\n\t"                         \
  ".pushsection __rseq_failure, \"ax?\"\n\t"        \
  ".byte 0x0f, 0xb9, 0x3d\n\t"                      \
  ".long " LT_RSEQ_SIGNATURE "\n\t"                 \
  "4:\n\t"                                          \
  symbol                                            \
  "jmp %l[restarted]\n\t"                           \
  ".popsection\n\t"

// clang-format on

#elif defined(__aarch64__)

// As above; x9 is changed. The signature is `brk #0x45e0`.
// clang-format off
#define LT_RSEQ_SIGNATURE "0xd428bc00"

#define LT_RSEQ_DESCRIPTOR(symbol)                  \
  ".pushsection __rseq_cs, \"aw?\"\n\t"             \
  ".balign 32\n\t"                                  \
  symbol                                            \
  "3:\n\t"                                          \
  ".long 0, 0\n\t"                                  \
  ".quad 1f, (2f - 1f), 4f\n\t"                     \
  ".popsection\n\t"

#define LT_RSEQ_BEGIN                               \
  LT_RSEQ_DESCRIPTOR("")                            \
  "adrp x9, 3b\n\t"                                 \
  "add x9, x9, :lo12:3b\n\t"                        \
  "str x9, [%[area], #8]\n\t"                       \
  "1:\n\t"

#define LT_RSEQ_END(symbol)                         \
  "2:\n\t"                                          \
  "str xzr, [%[area], #8]\n\t"                      \
  ".pushsection __rseq_failure, \"ax?\"\n\t"        \
  ".inst " LT_RSEQ_SIGNATURE "\n\t"                 \
  "4:\n\t"                                          \
  symbol                                            \
  "b %l[restarted]\n\t"                             \
  ".popsection\n\t"

// clang-format on

#endif

namespace landtrace::arch {

// Adds one to a number that only threads on `cpu` change: kCommitted or kRestarted.
#if defined(__x86_64__)
// clang-format off
inline WriteOutcome add_one_rseq(std::uint64_t* number, RseqArea* area, std::uint32_t cpu) {
  asm goto(LT_RSEQ_BEGIN
           "cmpl %[cpu], 4(%[area])\n\t"
           "jne %l[restarted]\n\t"
           "incq (%[number])\n\t"
           LT_RSEQ_END("")
           :
           : [number] "r"(number), [area] "r"(area), [cpu] "r"(cpu)
           : "memory", "cc", "rax"
           : restarted);
  return WriteOutcome::kCommitted;
restarted:
  area->rseq_cs = 0;
  return WriteOutcome::kRestarted;
}

// clang-format on
#elif defined(__aarch64__)
// clang-format off
inline WriteOutcome add_one_rseq(std::uint64_t* number, RseqArea* area, std::uint32_t cpu) {
  asm goto(LT_RSEQ_BEGIN
           "ldr w9, [%[area], #4]\n\t"
           "cmp w9, %w[cpu]\n\t"
           "b.ne %l[restarted]\n\t"
           "ldr x9, [%[number]]\n\t"
           "add x9, x9, #1\n\t"
           "str x9, [%[number]]\n\t"
           LT_RSEQ_END("")
           :
           : [number] "r"(number), [area] "r"(area), [cpu] "r"(cpu)
           : "memory", "cc", "x9"
           : restarted);
  return WriteOutcome::kCommitted;
restarted:
  area->rseq_cs = 0;
  return WriteOutcome::kRestarted;
}

// clang-format on
#else
inline WriteOutcome add_one_rseq(std::uint64_t*, RseqArea*, std::uint32_t) { __builtin_trap(); }
#endif

// The same where `guard` has that value still.
#if defined(__x86_64__)
// clang-format off
inline WriteOutcome add_one_rseq_if(const std::uint64_t* guard, std::uint64_t value, std::uint64_t* number,
                                    RseqArea* area, std::uint32_t cpu) {
  asm goto(LT_RSEQ_BEGIN
           "cmpl %[cpu], 4(%[area])\n\t"
           "jne %l[restarted]\n\t"
           "cmpq %[value], (%[guard])\n\t"
           "jne %l[restarted]\n\t"
           "incq (%[number])\n\t"
           LT_RSEQ_END("")
           :
           : [guard] "r"(guard), [value] "r"(value), [number] "r"(number), [area] "r"(area), [cpu] "r"(cpu)
           : "memory", "cc", "rax"
           : restarted);
  return WriteOutcome::kCommitted;
restarted:
  area->rseq_cs = 0;
  return WriteOutcome::kRestarted;
}

// clang-format on
#elif defined(__aarch64__)
// clang-format off
inline WriteOutcome add_one_rseq_if(const std::uint64_t* guard, std::uint64_t value, std::uint64_t* number,
                                    RseqArea* area, std::uint32_t cpu) {
  asm goto(LT_RSEQ_BEGIN
           "ldr w9, [%[area], #4]\n\t"
           "cmp w9, %w[cpu]\n\t"
           "b.ne %l[restarted]\n\t"
           "ldr x9, [%[guard]]\n\t"
           "cmp x9, %[value]\n\t"
           "b.ne %l[restarted]\n\t"
           "ldr x9, [%[number]]\n\t"
           "add x9, x9, #1\n\t"
           "str x9, [%[number]]\n\t"
           LT_RSEQ_END("")
           :
           : [guard] "r"(guard), [value] "r"(value), [number] "r"(number), [area] "r"(area), [cpu] "r"(cpu)
           : "memory", "cc", "x9"
           : restarted);
  return WriteOutcome::kCommitted;
restarted:
  area->rseq_cs = 0;
  return WriteOutcome::kRestarted;
}

// clang-format on
#else
inline WriteOutcome add_one_rseq_if(const std::uint64_t*, std::uint64_t, std::uint64_t*, RseqArea*, std::uint32_t) {
  __builtin_trap();
}
#endif

}  // namespace landtrace::arch
