// Restartable sequences: the thread's rseq area, registered by glibc (2.35 and later).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/shared_layout.hpp"

namespace landtrace::arch {

// The kernel's struct rseq, as far as it is used here. Only rseq_cs may be written.
//
//   0              4        8         16      20
//   +--------------+--------+---------+-------+----
//   | cpu_id_start | cpu_id | rseq_cs | flags | …
//   +--------------+--------+---------+-------+----
struct RseqArea {
  // Always the number of a CPU: 0 while the thread is not registered.
  std::uint32_t cpu_id_start;
  // Negative (as int32) while the thread is not registered.
  std::uint32_t cpu_id;
  // The descriptor of the sequence that the thread is in, or 0.
  std::uint64_t rseq_cs;
  std::uint32_t flags;
};
// write_rseq.cc has these as numbers.
LT_SHARED_AT(RseqArea, cpu_id_start, 0);
LT_SHARED_AT(RseqArea, cpu_id, 4);
LT_SHARED_AT(RseqArea, rseq_cs, 8);

// The calling thread's area, or nullptr where this CPU, C library or its configuration has none.
// Async-signal-safe. The answer for a thread never changes.
RseqArea* rseq_area();

// True when the restartable ring write exists for this CPU and the calling thread is registered.
bool rseq_usable();

}  // namespace landtrace::arch
