// A data segment: what one user's producers write. Nobody trusts what stands here.
//
//   0          magic, version, hints, attention, slotless
//   32         Cell        cells[kMaxCells]       16 each    1 MiB
//   0x100040   ThreadSlot  threads[kMaxThreads]   64 each    1 MiB
//   0x200040   TaskEntry   tasks[kMaxTasks]       24 each    1.5 MiB
//   0x381000   ObjectTable objects                           4 MiB   (unwind/object_table.hpp)
//   0x782000   ProbeFigure probe_figures[][]                 8 MiB   (by CPU)
//   0xf82000   arena, up to ControlSegment::data_bytes
//
// All of it is sparse: a page that nobody wrote to is not there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/shared_layout.hpp"
#include "unwind/object_table.hpp"

namespace landtrace::plan {

inline constexpr std::uint64_t kDataMagic = 0x2e2e2e617461444c;  // "LData..."
// Cell 0 is none: it is never thrown and counts nothing.
inline constexpr std::uint32_t kMaxCells = 65536;
inline constexpr std::uint32_t kMaxThreads = 16384;
inline constexpr std::uint32_t kMaxTasks = 65536;
inline constexpr std::uint32_t kMaxProbeFigures = 8192;

// A thread's slot. `section` is the thread's alone, by plain stores (section.hpp); who has the slot is settled by `tid`
// (thread_slots.hpp).
//
//   63                                       16 15             0
//   +------------------------------------------+----------------+
//   | section:  sections that have ended       | depth          |    depth 0: the thread is outside
//   +------------------------------------------+----------------+    above 1: a signal handler emits inside an emit
//
// `unregistered` is for a process that has not got the owner's barriers yet (client/process.hpp): what `section` says
// may be old, and the owner waits until the flag is gone.
struct alignas(64) ThreadSlot {
  std::uint64_t section;
  // 0: free.
  std::uint32_t tid;
  // 0: of another pid namespace, so that nobody here can tell whether the thread lives.
  std::uint32_t pid;
  std::uint32_t unregistered = 0;
  // A number of the program that the process was when it claimed the slot: exec leaves it its ids. 0: not known.
  std::uint32_t program = 0;
};
LT_SHARED(ThreadSlot, 64, 64);
LT_SHARED_AT(ThreadSlot, section, 0);
LT_SHARED_AT(ThreadSlot, tid, 8);
LT_SHARED_AT(ThreadSlot, pid, 12);
LT_SHARED_AT(ThreadSlot, unregistered, 16);
LT_SHARED_AT(ThreadSlot, program, 20);

// The name of a thread that wrote, at tid % kMaxTasks. Writers may race for an entry: they set `tid` to 0 first and to
// their own last, and a reader believes only an entry whose tid is the one that it looks for, before and after.
struct TaskEntry {
  std::uint32_t tid;
  std::uint32_t pid;
  char comm[16];
};
LT_SHARED(TaskEntry, 24, 4);
LT_SHARED_AT(TaskEntry, tid, 0);
LT_SHARED_AT(TaskEntry, pid, 4);
LT_SHARED_AT(TaskEntry, comm, 8);

// Soft state, which triggers change in producers, at once and without the owner: cells.hpp. A cell is one of
//
//             63                                    1    0
//             +--------------------------------------+--------+
//   switch    | own: raw time of the last throw      | thrown |    the newest throw counts, whoever made it
//             +--------------------------------------+--------+
//             | others: not used                              |
//             +-----------------------------------------------+
//
//             +-----------------------------------------------+
//   counter   | own: how often this user's producers did it   |    own + others is how often all did
//             +-----------------------------------------------+
//             | others: how often all others did, as the      |
//             | owner knows, who alone writes it              |
//             +-----------------------------------------------+
//
// Each user's segment has all cells; the owner carries over what one user's producers did to the others'
// (segments/cells.hpp).
struct Cell {
  std::uint64_t own;
  std::uint64_t others;
};
LT_SHARED(Cell, 16, 8);
LT_SHARED_AT(Cell, own, 0);
LT_SHARED_AT(Cell, others, 8);

// How often a probe was hit, and how often nothing came of that: no room for a return, or within another probe.
struct ProbeFigure {
  std::uint64_t hits;
  std::uint64_t missed;
};
LT_SHARED(ProbeFigure, 16, 8);
LT_SHARED_AT(ProbeFigure, hits, 0);
LT_SHARED_AT(ProbeFigure, missed, 8);
// CPUs beyond share the rows.
inline constexpr std::uint32_t kProbeFigureRows = 64;

struct alignas(4096) DataSegment {
  std::uint64_t magic;
  std::uint32_t version;
  // Where to look for a free slot first.
  std::uint32_t thread_hint;
  // Slots at and above this were never used.
  std::uint32_t thread_high;
  // A futex: counts changes of cells that the owner is to carry over to other users.
  std::uint32_t attention;
  // Events lost because no thread slot was free, or because they were nested too deep (View::nesting).
  std::uint64_t slotless;
  Cell cells[kMaxCells];
  ThreadSlot threads[kMaxThreads];
  TaskEntry tasks[kMaxTasks];
  // That were on stacks.
  unwind::ObjectTable objects;
  ProbeFigure probe_figures[kProbeFigureRows][kMaxProbeFigures];
};
LT_SHARED(DataSegment, 0xf82000, 4096);
LT_SHARED_AT(DataSegment, magic, 0);
LT_SHARED_AT(DataSegment, version, 8);
LT_SHARED_AT(DataSegment, thread_hint, 12);
LT_SHARED_AT(DataSegment, thread_high, 16);
LT_SHARED_AT(DataSegment, attention, 20);
LT_SHARED_AT(DataSegment, slotless, 24);
LT_SHARED_AT(DataSegment, cells, 32);
LT_SHARED_AT(DataSegment, threads, 0x100040);
LT_SHARED_AT(DataSegment, tasks, 0x200040);
LT_SHARED_AT(DataSegment, objects, 0x381000);
LT_SHARED_AT(DataSegment, probe_figures, 0x782000);

}  // namespace landtrace::plan
