// The two kinds of shared memory of a domain.
//
//   control segment (one)      written by the owner, read-only for everybody else
//     ControlSegment           clock, geometry of the domain, and the tables below
//       events[]               what a producer needs of an event; plan != 0 means somebody listens
//       files[]                open user_events_data files: write index -> event
//     heap                     plans, file tables, texts, validators, consumer positions; by offset
//
//   data segment (one a user)  written by that user's producers
//     DataSegment              thread slots (who is inside the data plane), names of threads, objects
//                              (programs, libraries) that lay on stacks
//     arena                    rings, by offset; a ring has the same offset in every user's segment
//
// The owner publishes by one release store of an offset (pairs with the acquire load where it is read) and frees
// what it replaced after a grace period (domain/grace.hpp). What stands in the heap does not change in place, but for
// consumer positions and the growth of file tables. Nothing that a producer reads in its data segment is used as an address unbounded.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

#include "event/user_events_abi.hpp"
#include "ring/layout.hpp"
#include "unwind/object_table.hpp"

namespace landtrace::plan {

using event::Abi;

inline constexpr std::uint64_t kControlMagic = 0x6c6f72746e6f434c;  // "LControl"
inline constexpr std::uint64_t kDataMagic = 0x2e2e2e617461444c;     // "LData..."
inline constexpr std::uint32_t kLayoutVersion = 5;

inline constexpr std::uint32_t kMaxEvents = 16384;
// Slots of events that nobody registers and that have no plan: what is written to trace_marker and trace_marker_raw, and
// the stacks of threads.
inline constexpr std::uint32_t kPrintSlot = 0;
inline constexpr std::uint32_t kRawDataSlot = 1;
inline constexpr std::uint32_t kUserStackSlot = 2;
inline constexpr std::uint32_t kFirstEventSlot = 3;
// Their ids in tracefs and in raw pages: the kernel's.
inline constexpr std::uint16_t kPrintId = 5;
inline constexpr std::uint16_t kUserStackId = 12;
inline constexpr std::uint16_t kRawDataId = 18;
inline constexpr std::uint32_t kMaxFiles = 65536;
inline constexpr std::uint32_t kMaxInstances = 64;
inline constexpr std::uint32_t kMaxUsers = 64;
inline constexpr std::uint32_t kMaxCells = 65536;  // cell 0 is none
inline constexpr std::uint32_t kMaxThreads = 16384;
inline constexpr std::uint32_t kMaxTasks = 65536;
inline constexpr std::uint64_t kControlBytes = 256ull << 20;  // sparse

struct EventSlot {
  std::uint32_t plan;  // offset of the published Plan; 0: nobody listens. The native enable word.
  std::uint32_t
      generation;          // grows when the slot is taken for another event, and when that is complete; begins anywhere
  std::uint32_t min_size;  // payload bytes that a write must have
  std::uint32_t checks;    // offset of event::DynamicFieldCheck[check_count]
  std::uint16_t check_count;
  std::uint16_t id;  // the id that tracefs and trace files show
  std::uint32_t
      text;  // offset of "SYSTEM\0NAME\0FIELDS\0FLAVOUR\0" (event::parse_declared()); stays valid long after the event is gone
  std::uint32_t text_size;
  std::uint32_t registered;  // 0 when the event is gone
};
static_assert(sizeof(EventSlot) == 32);

struct FileSlot {
  std::uint32_t table;       // offset of the published FileTable; 0: nothing registered; kPlainFile may be set in it
  std::uint32_t generation;  // of the file that has this slot; 0: free
};

// In FileSlot::table, whose offsets are multiples of 8: what is written to the file is payload from its first byte, of the
// one event in the table (the 2021 proposal).
inline constexpr std::uint32_t kPlainFile = 1;

// Followed by event slots, by write index; `count` grows in place (release) until the table is full.
struct FileTable {
  std::uint32_t count;

  [[nodiscard]] const std::uint32_t* events() const { return &count + 1; }
};

// A plan is a list of steps, run in order; those before a record decide whether it is made.
enum class StepKind : std::uint16_t {
  kRecord = 1,  // into the instance's rings, unless it is stopped
  kFlip,        // one of the next two steps, both kRecord, by the parity of `cell`
  // Gates: who is not let through goes on `skip` steps later.
  kSoft,     // the event's switch: `cell` is thrown while the event is soft-disabled
  kThreads,  // the threads that `threads` names
  kFilter,   // events that pass `filter`
  // Runs `triggers` around the next `skip` steps, which are the gates and the record of one instance.
  kTriggers,
};

// Followed by `only_count` ids, then `never_count`, both ascending.
struct ThreadList {
  static constexpr std::uint32_t kEverybody = ~0u;  // as only_count: no id follows
  std::uint32_t only_count;
  std::uint32_t never_count;

  [[nodiscard]] const std::uint32_t* ids() const { return &never_count + 1; }
};

struct PlanStep {
  StepKind kind;
  std::uint8_t skip;
  std::uint8_t instance;
  std::uint32_t cell;  // kRecord: the switch that stops the instance; kFlip, kSoft
  union {
    std::uint64_t rings;     // kRecord: offset of the instance's ring set in a data segment
    std::uint64_t threads;   // offset of a ThreadList in the control segment
    std::uint64_t filter;    // of a filter::Program there
    std::uint64_t triggers;  // of a TriggerList there
  };
  std::uint64_t consumed;  // offset in the control segment of std::uint64_t[kMaxUsers][rings of a set]
  ring::PreparedGeometry geometry;
};
static_assert(sizeof(PlanStep) == 72);
static_assert(kMaxInstances <= 256, "PlanStep::instance");

enum class TriggerAction : std::uint32_t {
  kTraceOn,
  kTraceOff,
  kSnapshot,
  kStackTrace,
  kEnableEvent,
  kDisableEvent,
  kHistogram,          // the event counts in `histogram`
  kContinueHistogram,  // `target` is an event_pause_cell of hist::HistPlans; counted whether it was thrown or not
  kPauseHistogram,
  kProbe,  // `target` is the offset of a ProbePlan in the control segment
};

struct Trigger {
  TriggerAction action;
  bool is_late;             // happens behind the record, if the trigger list is conditional
  std::uint32_t filter;     // offset of a filter::Program in the control segment; 0: none
  std::uint32_t target;     // the cell that the action changes; of kStackTrace and kHistogram none
  std::uint32_t count;      // the cell that counts how often it happened; 0: there is no limit
  std::uint32_t histogram;  // kHistogram: offset of a hist::HistPlan in the control segment
  std::uint64_t limit;
};
static_assert(sizeof(Trigger) == 32);

// Followed by the triggers, in the order in which they are run.
struct alignas(8) TriggerList {
  std::uint32_t count;
  // As in the kernel: the event is looked at first, and with it whether the instance records; the triggers run whose filters
  // it passes; it is recorded; the late ones run. Else all triggers run first.
  bool is_conditional;

  [[nodiscard]] const Trigger* triggers() const { return reinterpret_cast<const Trigger*>(this + 1); }
};
static_assert(sizeof(TriggerList) == 8);

// Followed by `step_count` steps, at least one.
struct alignas(8) Plan {
  std::uint32_t step_count;

  [[nodiscard]] const PlanStep* steps() const { return reinterpret_cast<const PlanStep*>(this + 1); }
};
static_assert(sizeof(Plan) == 8);

struct alignas(4096) ControlSegment {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t raw_clock;   // arch::RawClock
  std::uint32_t cpus;        // rings of a set that belong to CPUs
  std::uint32_t claimed;     // rings of a set that are claimed
  std::uint64_t data_bytes;  // size of every data segment
  std::uint32_t user_count;
  std::uint32_t event_high;     // slots at and above this were never used
  std::uint64_t event_changes;  // grows with each registration and removal
  Abi abi;
  // A robust lock that the owner's serving thread holds for its whole life. When the owner dies, even by SIGKILL,
  // the kernel itself marks the word; a producer that sees the mark stops.
  alignas(64) pthread_mutex_t owner_alive;
  alignas(64) EventSlot events[kMaxEvents];
  FileSlot files[kMaxFiles];
};

// FUTEX_OWNER_DIED of the futex ABI; glibc keeps the futex word first in a pthread_mutex_t.
inline constexpr std::uint32_t kOwnerDied = 0x40000000;

struct alignas(64) ThreadSlot {
  // Nesting depth in the low 16 bits (a signal handler may emit inside an emit), above it a number that grows
  // whenever the outermost section ends. Plain stores by the one thread; see section.hpp.
  std::uint64_t section;
  std::uint32_t tid;  // 0: free
  std::uint32_t pid;
};
static_assert(sizeof(ThreadSlot) == 64);

// Names of threads that wrote, at tid % kMaxTasks. Writers may race: a reader believes only an entry whose tid is
// the one it looks for, before and after.
struct TaskEntry {
  std::uint32_t tid;
  std::uint32_t pid;
  char comm[16];
};

// Soft state: what triggers change in producers, at once and without the owner. Each user's segment has all cells; the owner
// carries over what one user's producers did to the others' (domain/cells.hpp).
struct Cell {
  // A switch: raw time of the last throw << 1 | thrown; the newest throw counts, whoever made it.
  // A counter: how often this user's producers did it.
  std::uint64_t own;
  // Of a counter: how often all others did, as the owner knows.
  std::uint64_t others;
};

struct alignas(4096) DataSegment {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t thread_hint;  // where to look for a free slot first
  std::uint32_t thread_high;  // slots at and above this were never used
  std::uint32_t attention;    // a futex: counts changes of cells that the owner is to carry over to other users
  std::uint64_t slotless;     // events lost because no thread slot was free, or as too deep in others (View::nesting)
  Cell cells[kMaxCells];
  ThreadSlot threads[kMaxThreads];
  TaskEntry tasks[kMaxTasks];
  unwind::ObjectTable objects;  // that were on stacks
};

}  // namespace landtrace::plan
