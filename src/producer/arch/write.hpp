// The two ways to append a record to a ring.
#pragma once

#include "arch/clock.hpp"
#include "arch/ring_words.hpp"
#include "arch/rseq.hpp"

namespace landtrace::arch {

// As one restartable sequence on `cpu`: no other thread can come between reading the tail and committing the
// new one. Reads the time stamp counter inside. `area` is the calling thread's. Async-signal-safe.
WriteOutcome write_rseq(const WriteRequest& request, RseqArea* area, std::uint32_t cpu);

// Adds one to a number that only threads on `cpu` change, as a restartable sequence: kCommitted or kRestarted.
WriteOutcome add_one_rseq(std::uint64_t* number, RseqArea* area, std::uint32_t cpu);

// The portable twin: the caller holds the ring's claim, so that nobody else writes it.
WriteOutcome write_exclusive(const WriteRequest& request, RawClock clock);

}  // namespace landtrace::arch
