#include "plan/emit.hpp"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstring>

#include "base/system_call.hpp"
#include "plan/program.hpp"
#include "plan/stack.hpp"
#include "plan/triggers.hpp"

namespace landtrace::plan {

std::uint32_t detail::current_cpu(const Thread& thread) {
  if (thread.mode.cpu != ring::kOwnCpu) return thread.mode.cpu;
  if (thread.mode.area != nullptr) return thread.mode.area->cpu_id_start;
  const int cpu = ::sched_getcpu();
  return cpu < 0 ? 0 : static_cast<std::uint32_t>(cpu);
}

void detail::read_name(const View& view, const Thread& thread, char (&name)[filter::kCommSize]) {
  std::memset(name, 0, sizeof name);
  // One that may make no call is known by the name that it had when it came.
  if (thread.is_proxy || !arch::may_call()) {
    std::memcpy(name, view.data->tasks[thread.tid % kMaxTasks].comm, sizeof name - 1);
  } else {
    // A system call, as a thread may change its name at any time, and nobody is told.
    if (thread.mode.area != nullptr) arch::let_time_go(thread.mode.area);
    system_call(SYS_prctl, PR_GET_NAME, name);
  }
}

bool detail::is_listed(const View& view, const PlanStep& gate, std::uint32_t tid) {
  const ThreadList& list = *control_at<ThreadList>(view, static_cast<std::uint32_t>(gate.threads));
  const std::uint32_t* ids = list.ids();
  if (list.only_count != ThreadList::kEverybody) {
    if (!std::binary_search(ids, ids + list.only_count, tid)) return false;
    ids += list.only_count;
  }
  return !std::binary_search(ids, ids + list.never_count, tid);
}

bool detail::passes_with_context(const View& view, const Thread& thread, const filter::Program& program,
                                 filter::Context& context, const Segment* segments, std::uint32_t segment_count) {
  const TaskEntry& task = view.data->tasks[thread.tid % kMaxTasks];
  char name[filter::kCommSize];
  if ((program.uses & filter::Program::kUsesCpu) != 0) context.cpu = current_cpu(thread);
  if ((program.uses & filter::Program::kUsesProcess) != 0)
    context.process = thread.is_proxy ? task.pid : thread.slot->pid;
  if ((program.uses & filter::Program::kUsesComm) != 0) {
    read_name(view, thread, name);
    context.comm = name;
  }
  return filter::passes(program, context, segments, segment_count);
}

void detail::record_after(arch::WriteOutcome first, const View& view, const Thread& thread, const PlanStep& step,
                          arch::WriteRequest& request) {
  ring::write_after(first, request, rings_of(view, step), thread.mode, thread.claim);
}

void detail::record_as_said(const View& view, const Thread& thread, const PlanStep& step, arch::WriteRequest& request) {
  if (is_thrown(view.data->cells[step.cell])) return;
  record_always(view, thread, step, request, TimeOfWrite{});
  if (step.kind == StepKind::kRecordWithStack) record_stack(view, thread, step);
}

bool detail::is_let_through(const View& view, const Thread& thread, const PlanStep& gate, std::uint32_t event,
                            const arch::WriteRequest& request) {
  return is_let_through(view, thread, gate, event, request.segments, static_cast<std::uint32_t>(request.segment_count));
}

std::uint32_t detail::run_step(const View& view, const Thread& thread, const PlanStep& step, std::uint32_t event,
                               arch::WriteRequest& request) {
  switch (step.kind) {
    case StepKind::kTriggers:
      run_triggers(view, thread, step, event, request);
      return step.skip;
    case StepKind::kFlip:
      record_as_said(view, thread, flipped(view, step), request);
      return step.skip;
    case StepKind::kRecordWithStack:
      record_as_said(view, thread, step, request);
      return 0;
    case StepKind::kProgram:
      run_program(view, thread, step, request.segments, static_cast<std::uint32_t>(request.segment_count));
      return 0;
    case StepKind::kHistogram:
      run_histogram(view, thread, step, event, request.segments, static_cast<std::uint32_t>(request.segment_count));
      return 0;
    default:
      return is_let_through(view, thread, step, event, request) ? 0 : step.skip;
  }
}

bool emit_in_instance(const View& view, const Thread& thread, std::uint32_t instance, std::uint32_t event,
                      const Segment* segments, std::uint32_t segment_count, std::uint32_t size) {
  // As in emit_in_section(): pairs with the release store of publish() in the owner's Events::publish_plan().
  const std::uint32_t offset = __atomic_load_n(&view.control->events[event].plan, __ATOMIC_ACQUIRE);
  if (offset == 0 || owner_died(view)) return false;
  const Plan& plan = *control_at<Plan>(view, offset);
  arch::WriteRequest request;
  ring::describe(request, {thread.tid, static_cast<std::uint16_t>(event), size, segments, segment_count});
  bool heard = false;
  for (std::uint32_t i = 0; i < plan.step_count; ++i) {
    const PlanStep& step = plan.steps()[i];
    if (!step.takes_part_in(instance)) continue;
    heard = true;
    if (step.kind == StepKind::kRecord) {
      detail::record(view, thread, step, request);
    } else {
      i += detail::run_step(view, thread, step, event, request);
    }
  }
  return heard;
}

}  // namespace landtrace::plan
