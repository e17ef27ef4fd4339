// Finds a thread its slot in a data segment: once per thread and attachment, not on the path of an event.
//
//            tid = 0, pid = 0          free
//     claim    |        ^
//              v        |
//            tid,     pid = 0          claimed, or of a thread whose pid means nothing here: nobody frees it
//              |        ^
//              v        |    free_dead_thread_slots(): the thread is gone; give_thread_slot_back()
//            tid,     pid              taken
//
// Who writes: any process of the segment's user, and the owner. `tid` settles who has the slot: it goes from 0 to a
// thread's id, and from that to 0, by compare-and-swap alone. `pid` is stored after it and cleared before it, so that a
// slot is not judged by one thread's tid and another one's pid. A thread killed in between leaves a slot that is lost.
// Where two free a slot at once and a third takes it in between, the slower one may clear the new thread's pid: its
// slot is then as one of another pid namespace.
//
// Slots are looked for from thread_hint on, which is only a hint; thread_high says how far the owner and others have to
// look. Both may be anything, as whoever reads them bounds them.
#pragma once

#include "plan/segments.hpp"

namespace landtrace::plan {

// Whether that process has no thread of that id any more. Only for ids of the caller's pid namespace.
bool thread_is_gone(std::uint32_t pid, std::uint32_t tid);

// Claims a slot for the calling thread and leaves its name in the task table. `pid` is 0 where the owner could not tell
// by it whether the thread lives (another pid namespace): such a slot is not taken back. nullptr when all are taken by
// living threads. `program`: ThreadSlot::program. Makes system calls, takes no lock; async-signal-safe.
ThreadSlot* claim_thread_slot(DataSegment& data, std::uint32_t pid, std::uint32_t tid, std::uint32_t program = 0);

// Frees the slots of this process from before its last exec(), which is now `program`. A thread that was in the middle
// of an event then, as another one called exec(), would be taken to be there as long as the process lives.
void free_slots_before_exec(DataSegment& data, std::uint32_t pid, std::uint32_t program);

// Frees a slot that is still that thread's, which is done with it. Async-signal-safe.
void give_thread_slot_back(ThreadSlot& slot, std::uint32_t tid);

// Frees slots whose thread is gone; `pid` limits it to one process (0: all). For the owner and for a process that
// has found no free slot. Returns how many it freed.
std::uint32_t free_dead_thread_slots(DataSegment& data, std::uint32_t pid);

}  // namespace landtrace::plan
