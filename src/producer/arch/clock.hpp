// The raw clock that records carry, and what it means in nanoseconds.
//
// The raw clock is the CPU's time stamp counter where that runs at a constant rate on every CPU, on aarch64 the virtual
// counter, else CLOCK_MONOTONIC. The owner of a domain chooses it once, for all producers of the domain.
#pragma once

#include <cstdint>
#include <ctime>

#include "arch/thread_time.hpp"

namespace landtrace::arch {

enum class RawClock : std::uint32_t { kMonotonic = 0, kTsc = 1 };

// kTsc when the counter is invariant and the kernel itself keeps time by it.
RawClock best_raw_clock();

// CLOCK_MONOTONIC in ns. Async-signal-safe.
inline std::uint64_t monotonic_ns() { return system_clock_ns(CLOCK_MONOTONIC); }

// In every thread, also in one that may not read the counter (thread_time.hpp). Async-signal-safe.
inline std::uint64_t read_raw_clock(RawClock clock) {
  return clock == RawClock::kTsc ? read_counter() : monotonic_ns();
}

}  // namespace landtrace::arch
