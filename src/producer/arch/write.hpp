// The two ways to append a record to a ring.
#pragma once

#include "arch/clock.hpp"
#include "arch/count_rseq.hpp"
#include "arch/ring_words.hpp"
#include "arch/rseq.hpp"

namespace landtrace::arch {

// As one restartable sequence on `cpu`: no other thread can come between reading the tail and committing the
// new one. Reads the time stamp counter inside. `area` is the calling thread's. Async-signal-safe.
WriteOutcome write_rseq(const WriteRequest& request, RseqArea* area, std::uint32_t cpu, RingWords* at);

// The same at a time that the thread has read before:
//
//     hold_time(area); time = read_counter(); …; write_rseq_held(…, time); …; let_time_go(area);
//
// kRestarted where the thread was interrupted since, by the scheduler or a signal, or has begun another restartable
// sequence: somebody may have written a later time into the ring. No system call may stand in between, as the kernel
// need not tell of an interruption there.
WriteOutcome write_rseq_held(const WriteRequest& request, RseqArea* area, std::uint32_t cpu, RingWords* at,
                             std::uint64_t time);

#if defined(__x86_64__) || defined(__aarch64__)
// Of the sequence of write_rseq_held(). The kernel clears `rseq_cs` when it interrupts a thread outside the sequence
// that is named there.
extern "C" __attribute__((visibility("hidden"))) const char landtrace_held_write[];

inline void hold_time(RseqArea* area) {
  const auto sequence = reinterpret_cast<std::uintptr_t>(&landtrace_held_write);
  __atomic_store_n(&area->rseq_cs, std::uint64_t{sequence}, __ATOMIC_RELAXED);
  asm volatile("" ::: "memory");  // before the clock is read
}
#else
inline void hold_time(RseqArea*) {}
#endif
// So that nothing is armed in whoever is returned to, and nothing that was held there counts any more.
inline void let_time_go(RseqArea* area) { __atomic_store_n(&area->rseq_cs, std::uint64_t{0}, __ATOMIC_RELAXED); }

// The portable twin: the caller holds the ring's claim, so that nobody else writes it.
WriteOutcome write_exclusive(const WriteRequest& request, RawClock clock);

}  // namespace landtrace::arch
