// Plans: what an event does in its instances. In the control segment; a producer runs one, emit.hpp says how.
//
//   Plan, then its steps
//
//     0            4        8         80        152
//     +------------+--------+---------+---------+----
//     | step_count | unused | step 0  | step 1  | …
//     +------------+--------+---------+---------+----
//
//   The steps of one instance, those of the next one behind them; in brackets what is there only where it is wanted:
//
//     [programs] [kThreads] [histograms] [kTriggers] [kSoft] [kThreads] [kFilter]  kRecord                 [histograms]
//                                        '-- skip: up to behind the records ----'  or kFlip kRecord kRecord
//
//   kSoft, kThreads and kFilter are gates: an event that one of them does not let through goes on with the next
//   instance, or with the histograms behind the record. kThreads comes first, and skips these too, where a histogram
//   or a trigger looks at the event, which there is not of other threads. kTriggers runs the gates behind it and the
//   record of its instance itself, around the triggers. Where all triggers are histograms each is a step, an observer,
//   and so are eBPF programs: behind the record are those whose own events are to stand there. kFlip stands before the
//   records into two sets of rings, of which it takes the one that is recorded into now. Where each event is followed
//   by a stack, kRecordWithStack stands for kRecord.
//
// Immutable once published. Offsets of the control segment fit 32 bits; where a step has 64 it is for those of data
// segments, which are larger.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/shared_layout.hpp"
#include "ring/layout.hpp"

namespace landtrace::plan {

inline constexpr std::uint32_t kMaxInstances = 128;

// These types have flags that are bool.
static_assert(sizeof(bool) == 1);

enum class StepKind : std::uint16_t {
  // Into the instance's rings, unless it is stopped.
  kRecord = 1,
  // One of the next two steps, both records, by the parity of `cell`.
  kFlip,
  // Gates: an event that is not let through goes on `skip` steps later.
  // The event's switch: `cell` is thrown while the event is soft-disabled.
  kSoft,
  // The threads that `threads` names.
  kThreads,
  // Events that pass `filter`.
  kFilter,
  // Runs `triggers` around the next `skip` steps, which are the gates and the record of one instance.
  kTriggers,
  // As kRecord, and behind it the thread's stack.
  kRecordWithStack,
  // Observers, which look at the event and stop nothing: `program` runs;
  kProgram,
  // the event counts in `histogram`, if it passes the filter::Program at `cell` of the control segment (0: there is
  // none).
  kHistogram,
};

// An event with more of them in an instance has them in a TriggerList.
inline constexpr std::size_t kMaxObservers = 16;

// Whose events an instance takes. Both lists ascend, so that they can be searched.
//
//   0            4             8
//   +------------+-------------+--------------------------------+--------------------------------+
//   | only_count | never_count | only_count ids, and no others  | never_count ids, not even if   |
//   |            |             | (kEverybody: none stand here)  | they are among the first       |
//   +------------+-------------+--------------------------------+--------------------------------+
struct ThreadList {
  // As only_count: all threads.
  static constexpr std::uint32_t kEverybody = ~0u;
  std::uint32_t only_count;
  std::uint32_t never_count;

  [[nodiscard]] const std::uint32_t* ids() const { return &never_count + 1; }
};
LT_SHARED(ThreadList, 8, 4);
LT_SHARED_AT(ThreadList, only_count, 0);
LT_SHARED_AT(ThreadList, never_count, 4);

//   0      2      3          4      8                16         24                            72
//   +------+------+----------+------+----------------+----------+-----------------------------+
//   | kind | skip | instance | cell | rings, filter… | consumed | geometry (48)               |
//   +------+------+----------+------+----------------+----------+-----------------------------+
struct PlanStep {
  // In `instance`: it is a recorder's session, which also takes what happens in one instance alone.
  static constexpr std::uint8_t kOfRecorder = 0x80;

  StepKind kind;
  std::uint8_t skip;
  // Its index, and perhaps kOfRecorder.
  std::uint8_t instance;
  // kRecord: the switch that stops the instance; kFlip, kSoft. kHistogram: no cell, but the offset of its filter.
  std::uint32_t cell;
  union {
    // kRecord: offset of the instance's ring set in a data segment.
    std::uint64_t rings;
    // Offsets in the control segment: of a ThreadList, a filter::Program, a TriggerList, a bpf::Program, a
    // hist::HistPlan.
    std::uint64_t threads;
    std::uint64_t filter;
    std::uint64_t triggers;
    std::uint64_t program;
    std::uint64_t histogram;
  };
  // kRecord: offset in the control segment of std::uint64_t[kMaxUsers][rings of a set], how far the consumer has read.
  std::uint64_t consumed;
  ring::PreparedGeometry geometry;

  // Whether it is run for an event that happens in that instance alone.
  [[nodiscard]] bool takes_part_in(std::uint32_t one) const { return instance == one || (instance & kOfRecorder) != 0; }
};
LT_SHARED(PlanStep, 72, 8);
LT_SHARED_AT(PlanStep, kind, 0);
LT_SHARED_AT(PlanStep, skip, 2);
LT_SHARED_AT(PlanStep, instance, 3);
LT_SHARED_AT(PlanStep, cell, 4);
LT_SHARED_AT(PlanStep, rings, 8);
LT_SHARED_AT(PlanStep, threads, 8);
LT_SHARED_AT(PlanStep, filter, 8);
LT_SHARED_AT(PlanStep, triggers, 8);
LT_SHARED_AT(PlanStep, program, 8);
LT_SHARED_AT(PlanStep, histogram, 8);
LT_SHARED_AT(PlanStep, consumed, 16);
LT_SHARED_AT(PlanStep, geometry, 24);
static_assert(kMaxInstances <= PlanStep::kOfRecorder, "PlanStep::instance");

enum class TriggerAction : std::uint32_t {
  kTraceOn,
  kTraceOff,
  kSnapshot,
  kStackTrace,
  kEnableEvent,
  kDisableEvent,
  // The event counts in `histogram`.
  kHistogram,
  // `target` is an event_pause_cell of hist::HistPlans; counted whether it was thrown or not.
  kContinueHistogram,
  kPauseHistogram,
  // `target` is the offset of a EventProbePlan in the control segment.
  kEventProbe,
  // … of a bpf::Program.
  kProgram,
};

//   0        4         5      8        12       16      20          24      32
//   +--------+---------+------+--------+--------+-------+-----------+-------+
//   | action | is_late |      | filter | target | count | histogram | limit |
//   +--------+---------+------+--------+--------+-------+-----------+-------+
struct Trigger {
  TriggerAction action;
  // It happens behind the record, if the trigger list is conditional.
  bool is_late;
  // Offset of a filter::Program in the control segment; 0: none.
  std::uint32_t filter;
  // The cell that the action changes; kStackTrace and kHistogram have none.
  std::uint32_t target;
  // The cell that counts how often it happened; 0: there is no limit.
  std::uint32_t count;
  // kHistogram: offset of a hist::HistPlan in the control segment.
  std::uint32_t histogram;
  std::uint64_t limit;
};
LT_SHARED(Trigger, 32, 8);
LT_SHARED_AT(Trigger, action, 0);
LT_SHARED_AT(Trigger, is_late, 4);
LT_SHARED_AT(Trigger, filter, 8);
LT_SHARED_AT(Trigger, target, 12);
LT_SHARED_AT(Trigger, count, 16);
LT_SHARED_AT(Trigger, histogram, 20);
LT_SHARED_AT(Trigger, limit, 24);

// An event's triggers in one instance, in the order in which they are run.
//
//   0       4                5     8            40           72
//   +-------+----------------+-----+------------+------------+----
//   | count | is_conditional |     | trigger 0  | trigger 1  | …
//   +-------+----------------+-----+------------+------------+----
struct alignas(8) TriggerList {
  std::uint32_t count;
  // As in the kernel: the event is looked at first, and with it whether the instance records; the triggers run whose
  // filters it passes; it is recorded; the late ones run. Else all triggers run first.
  bool is_conditional;

  [[nodiscard]] const Trigger* triggers() const { return reinterpret_cast<const Trigger*>(this + 1); }
};
LT_SHARED(TriggerList, 8, 8);
LT_SHARED_AT(TriggerList, count, 0);
LT_SHARED_AT(TriggerList, is_conditional, 4);

// Has at least one step.
struct alignas(8) Plan {
  std::uint32_t step_count;

  [[nodiscard]] const PlanStep* steps() const { return reinterpret_cast<const PlanStep*>(this + 1); }
};
LT_SHARED(Plan, 8, 8);
LT_SHARED_AT(Plan, step_count, 0);

}  // namespace landtrace::plan
