// The entry point of the data plane: an event happens, and its plan (steps.hpp) runs in the thread in which it
// happened. Async-signal-safe; no lock, no allocation; may be killed at any instruction. No system call but where a
// filter or a histogram looks at the thread's name, a trigger takes a stack or changes what other users' producers are
// to see, or an event probe follows a pointer. None of these waits.
#pragma once

#include "filter/evaluate.hpp"
#include "plan/cells.hpp"
#include "plan/section.hpp"
#include "plan/segments.hpp"
#include "ring/writer.hpp"

namespace landtrace::plan {

using ring::Segment;
using ring::TimeOfWrite;

// A process's view of the domain that it is attached to.
struct View {
  const ControlSegment* control = nullptr;
  DataSegment* data = nullptr;
  // Bytes from an instance's consumer positions to those of this process's user.
  std::uint64_t consumed_row = 0;
  // How many events the event is nested in: each was made by a trigger of the one before.
  std::uint32_t nesting = 0;
  // How many of the event's last segments its triggers do not look at: the newline that is put behind a marker.
  std::uint32_t unseen = 0;
  // Where this user's code of eBPF programs can be run; nullptr: they are interpreted.
  const std::byte* code = nullptr;
};

inline View make_view(const ControlSegment* control, DataSegment* data, std::uint32_t user) {
  return {control, data, user * std::uint64_t{sizeof(std::uint64_t)} * (control->cpus + control->claimed), 0};
}

// A thread's place in the data plane.
struct Thread {
  ThreadSlot* slot = nullptr;
  ring::WriteMode mode{};
  std::uint32_t tid = 0;
  // How the thread marks a ring that it claims: its id, or that with kForeignClaim.
  std::uint32_t claim = 0;
  // `tid` is of another process, for which the thread writes; its name and pid are in the task table, its CPU is
  // `mode.cpu`.
  bool is_proxy = false;
  // Of a proxy: what is left to programs at its event (bpf::kMaxRunForOthers).
  std::uint64_t* program_budget = nullptr;
};

// Set in the claims of threads whose ids mean nothing to the owner (another pid namespace): it must not judge whether
// they live.
inline constexpr std::uint32_t kForeignClaim = 0x80000000;

template <typename T>
const T* control_at(const View& view, std::uint32_t offset) {
  return reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(view.control) + offset);
}

inline bool owner_died(const View& view) {
  const auto* word = reinterpret_cast<const std::uint32_t*>(&view.control->owner_alive);
  return (__atomic_load_n(word, __ATOMIC_RELAXED) & kOwnerDied) != 0;
}

// True when somebody listens to the event.
inline bool is_enabled(const View& view, std::uint32_t event) {
  return __atomic_load_n(&view.control->events[event].plan, __ATOMIC_RELAXED) != 0;
}

namespace detail {

inline ring::RingSet rings_of(const View& view, const PlanStep& step) {
  const ControlSegment& control = *view.control;
  const auto* consumed = reinterpret_cast<const std::byte*>(view.control) + step.consumed + view.consumed_row;
  return {reinterpret_cast<std::byte*>(view.data) + step.rings, reinterpret_cast<const std::uint64_t*>(consumed),
          step.geometry, control.cpus, control.claimed};
}

// Where the first attempt was interrupted, met the end of the ring or found no room, or the thread has no restartable
// sequences.
void record_after(arch::WriteOutcome first, const View& view, const Thread& thread, const PlanStep& step,
                  arch::WriteRequest& request);

template <typename Time>
inline void record_always(const View& view, const Thread& thread, const PlanStep& step, arch::WriteRequest& request,
                          Time time) {
  const arch::WriteOutcome outcome = ring::write_at_once(request, rings_of(view, step), thread.mode, time);
  if (__builtin_expect(outcome == arch::WriteOutcome::kCommitted, 1)) return;
  record_after(outcome, view, thread, step, request);
}

// Of a record's instance.
inline bool is_stopped(const View& view, const PlanStep& step) { return is_thrown(view.data->cells[step.cell]); }

inline void record(const View& view, const Thread& thread, const PlanStep& step, arch::WriteRequest& request) {
  if (!is_stopped(view, step)) record_always(view, thread, step, request, TimeOfWrite{});
}

// kRecord or kRecordWithStack.
void record_as_said(const View& view, const Thread& thread, const PlanStep& step, arch::WriteRequest& request);

std::uint32_t current_cpu(const Thread& thread);
// The thread's name, and NULs.
void read_name(const View& view, const Thread& thread, char (&name)[filter::kCommSize]);

// Of a filter that looks at more than the payload and the entry's header.
bool passes_with_context(const View& view, const Thread& thread, const filter::Program& program,
                         filter::Context& context, const Segment* segments, std::uint32_t segment_count);

inline bool passes(const View& view, const Thread& thread, std::uint64_t program_at, std::uint32_t event,
                   const Segment* segments, std::uint32_t segment_count) {
  const auto& program = *control_at<filter::Program>(view, static_cast<std::uint32_t>(program_at));
  filter::Context context;
  context.header.type = view.control->events[event].id;
  context.header.pid = static_cast<std::int32_t>(thread.tid);
  if (__builtin_expect(program.uses != 0, 0)) {
    return passes_with_context(view, thread, program, context, segments, segment_count);
  }
  return filter::passes(program, context, segments, segment_count);
}
inline bool passes(const View& view, const Thread& thread, std::uint64_t program_at, std::uint32_t event,
                   const arch::WriteRequest& request) {
  return passes(view, thread, program_at, event, request.segments, static_cast<std::uint32_t>(request.segment_count));
}

// The one of the two steps behind a kFlip that is the instance's record now.
inline const PlanStep& flipped(const View& view, const PlanStep& flip) {
  return (&flip)[1 + (counted(view.data->cells[flip.cell]) & 1)];
}

inline bool is_gate(StepKind kind) {
  return kind == StepKind::kFilter || kind == StepKind::kSoft || kind == StepKind::kThreads;
}

// Whether a kThreads lets the thread through.
bool is_listed(const View& view, const PlanStep& gate, std::uint32_t tid);

inline bool is_let_through(const View& view, const Thread& thread, const PlanStep& gate, std::uint32_t event,
                           const Segment* segments, std::uint32_t segment_count) {
  if (gate.kind == StepKind::kFilter) return passes(view, thread, gate.filter, event, segments, segment_count);
  if (gate.kind == StepKind::kSoft) return !is_thrown(view.data->cells[gate.cell]);
  return gate.kind != StepKind::kThreads || is_listed(view, gate, thread.tid);
}
bool is_let_through(const View& view, const Thread& thread, const PlanStep& gate, std::uint32_t event,
                    const arch::WriteRequest& request);

// A kProgram, a kHistogram: on what the event has. Its last segments may be View::unseen.
void run_program(const View& view, const Thread& thread, const PlanStep& step, const Segment* segments,
                 std::uint32_t segment_count);
void run_histogram(const View& view, const Thread& thread, const PlanStep& step, std::uint32_t event,
                   const Segment* segments, std::uint32_t segment_count);

// Any step but kRecord. Returns how many of those that follow are not to be run.
std::uint32_t run_step(const View& view, const Thread& thread, const PlanStep& step, std::uint32_t event,
                       arch::WriteRequest& request);

}  // namespace detail

// All of this is in line up to the ring write: a record costs two calls, one of whoever emits and one of the
// restartable sequence.

// The offset of the event's plan; 0: nobody listens.
inline std::uint32_t plan_of(const View& view, std::uint32_t event) {
  // Pairs with the release store of publish() in the owner's Events::publish_plan(): the plan is there.
  return __atomic_load_n(&view.control->events[event].plan, __ATOMIC_ACQUIRE);
}

// Runs `plan`, which is that of `event` (below kMaxEvents). `size` is the sum of the segments, at most
// ring::kMaxPayload, and was checked against the event's min_size. The caller is inside a Section. `time` may be that
// of the event that made this one (ring::HeldTime).
template <typename Time>
[[gnu::always_inline]] inline void emit_by_plan(const View& view, const Thread& thread, const Plan& plan,
                                                std::uint32_t event, const Segment* segments,
                                                std::uint32_t segment_count, std::uint32_t size, Time time) {
  const PlanStep* step = plan.steps();
  std::uint32_t left = plan.step_count;
  // An event that a gate turns away should cost little, and one that is only looked at: nothing is prepared for a
  // record before there is one, in an instance that is not stopped.
  while (true) {
    std::uint32_t done = 1;
    if (__builtin_expect(step->kind == StepKind::kRecord, 1)) {
      if (__builtin_expect(!detail::is_stopped(view, *step), 1)) break;
    } else if (step->kind == StepKind::kHistogram) {
      detail::run_histogram(view, thread, *step, event, segments, segment_count);
    } else if (detail::is_gate(step->kind)) {
      if (!detail::is_let_through(view, thread, *step, event, segments, segment_count)) done += step->skip;
    } else if (step->kind == StepKind::kProgram) {
      detail::run_program(view, thread, *step, segments, segment_count);
      time = {};  // it may have made system calls
    } else {
      break;
    }
    if (done == left) return;
    step += done;
    left -= done;
  }
  arch::WriteRequest request;
  ring::describe(request, {thread.tid, static_cast<std::uint16_t>(event), size, segments, segment_count});
  if (__builtin_expect(step->kind == StepKind::kRecord, 1)) {
    detail::record_always(view, thread, *step, request, time);
    if (__builtin_expect(--left == 0, 1)) return;
    ++step;
  }
  for (;; ++step) {
    if (step->kind == StepKind::kRecord) {
      detail::record(view, thread, *step, request);
    } else {
      const std::uint32_t skipped = detail::run_step(view, thread, *step, event, request);
      step += skipped;
      left -= skipped;
    }
    if (--left == 0) return;
  }
}

// The same, with the plan that the event has. False when nobody listens.
template <typename Time>
inline bool emit_at(const View& view, const Thread& thread, std::uint32_t event, const Segment* segments,
                    std::uint32_t segment_count, std::uint32_t size, Time time) {
  const std::uint32_t plan = plan_of(view, event);
  if (plan == 0 || owner_died(view)) return false;
  emit_by_plan(view, thread, *control_at<Plan>(view, plan), event, segments, segment_count, size, time);
  return true;
}
inline bool emit_in_section(const View& view, const Thread& thread, std::uint32_t event, const Segment* segments,
                            std::uint32_t segment_count, std::uint32_t size) {
  return emit_at(view, thread, event, segments, segment_count, size, TimeOfWrite{});
}

// The same for one instance alone: of the plan, the steps of that one and of recorders. False when there are none.
bool emit_in_instance(const View& view, const Thread& thread, std::uint32_t instance, std::uint32_t event,
                      const Segment* segments, std::uint32_t segment_count, std::uint32_t size);

// Records in one instance alone, without the event's plan. The caller is inside a Section.
inline void record_in(const View& view, const Thread& thread, const PlanStep& step, std::uint32_t event,
                      const Segment* segments, std::uint32_t segment_count, std::uint32_t size) {
  arch::WriteRequest request;
  ring::describe(request, {thread.tid, static_cast<std::uint16_t>(event), size, segments, segment_count});
  detail::record(view, thread, step, request);
}

}  // namespace landtrace::plan
