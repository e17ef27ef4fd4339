// Restartable sequences: the thread's rseq area, registered by glibc (2.35 and later).
#pragma once

#include <cstddef>
#include <cstdint>

namespace landtrace::arch {

// The kernel's struct rseq, as far as it is used here. Only rseq_cs may be written.
struct RseqArea {
  std::uint32_t cpu_id_start;
  std::uint32_t cpu_id;  // negative (as int32) while the thread is not registered
  std::uint64_t rseq_cs;
  std::uint32_t flags;
};
static_assert(offsetof(RseqArea, cpu_id) == 4 && offsetof(RseqArea, rseq_cs) == 8);

// The calling thread's area, or nullptr where this CPU, C library or its configuration has none.
// Async-signal-safe. The answer for a thread never changes.
RseqArea* rseq_area();

// True when the restartable ring write exists for this CPU and the calling thread is registered.
bool rseq_usable();

}  // namespace landtrace::arch
