// Finds a thread its place in a data segment: once per thread and attachment, not on the path of an event.
#pragma once

#include "plan/segments.hpp"

namespace landtrace::plan {

// Whether no thread of that id is in that process any more. Only for ids of the caller's pid namespace.
bool thread_is_gone(std::uint32_t pid, std::uint32_t tid);

// Claims a slot for the calling thread and leaves its name in the task table. `pid` is 0 where the owner could not tell by
// it whether the thread lives (another pid namespace): such a slot is not taken back. nullptr when all are taken by
// living threads. Makes system calls, takes no lock; async-signal-safe.
ThreadSlot* claim_thread_slot(DataSegment& data, std::uint32_t pid, std::uint32_t tid);

// Frees slots whose thread is gone; `pid` limits it to one process (0: all). For the owner and for a process that
// has found no free slot. Returns how many it freed.
std::uint32_t free_dead_thread_slots(DataSegment& data, std::uint32_t pid);

}  // namespace landtrace::plan
