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

// The portable twin: the caller holds the ring's claim, so that nobody else writes it.
WriteOutcome write_exclusive(const WriteRequest& request, RawClock clock);

}  // namespace landtrace::arch
