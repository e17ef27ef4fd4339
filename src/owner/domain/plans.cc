#include "domain/plans.hpp"

#include <algorithm>
#include <cstring>

namespace landtrace::domain {
namespace {

using plan::PlanStep;
using plan::StepKind;

std::uint8_t index_of(const Instance& instance) {
  return static_cast<std::uint8_t>(instance.index | (instance.is_recorder() ? PlanStep::kOfRecorder : 0));
}

PlanStep step(StepKind kind, const Instance& instance, std::uint32_t cell, std::uint64_t offset) {
  return {kind, 0, index_of(instance), cell, {offset}, 0, instance.place.geometry};
}

PlanStep record_into(const RingPlace& place, const Instance& instance, StepKind kind = StepKind::kRecord) {
  return {kind, 0, index_of(instance), instance.stop_switch, {place.rings}, place.consumed, place.geometry};
}

void add_records(std::vector<PlanStep>& steps, const Instance& instance, StepKind kind) {
  if (!instance.flip) {
    steps.push_back(record_into(instance.place, instance, kind));
    return;
  }
  steps.push_back(step(StepKind::kFlip, instance, instance.flip->counter, 0));
  steps.back().skip = 2;
  for (const RingPlace& place : instance.flip->places) steps.push_back(record_into(place, instance, kind));
}

enum class When : std::uint8_t { kForEveryThread, kBeforeRecord, kBehindRecord };

When when_of(const Observer& observer) {
  if (observer.kind == StepKind::kProgram) return When::kForEveryThread;
  return observer.is_late ? When::kBehindRecord : When::kBeforeRecord;
}

void add_observers(std::vector<PlanStep>& steps, const Instance& instance, const EventFile& file, When when) {
  for (const Observer& observer : file.observers) {
    if (when_of(observer) == when) steps.push_back(step(observer.kind, instance, observer.filter, observer.offset));
  }
}

// Whether a histogram or a trigger of the event looks at it.
bool is_looked_at(const EventFile& file) {
  return file.triggers_look_at_event ||
         std::any_of(file.observers.begin(), file.observers.end(),
                     [](const Observer& observer) { return observer.kind == StepKind::kHistogram; });
}

// Those from `first` to before `end` skip all that is there behind them.
void end_skips_here(std::vector<PlanStep>& steps, std::size_t first, std::size_t end) {
  for (std::size_t i = first; i < end; ++i) steps[i].skip = static_cast<std::uint8_t>(steps.size() - 1 - i);
}

// What the event does in one instance, for the threads of the ThreadList at `threads` (0: for all). The order is the
// kernel's. Of a thread that is not listed there is no event that could be looked at. Triggers that look at none run
// before that is known; and all see an event that is only softly enabled or that the filter rejects.
void add_steps(std::vector<PlanStep>& steps, const Instance& instance, const EventFile& file, StepKind record,
               std::uint32_t threads) {
  const bool threads_first = is_looked_at(file);
  const auto add_threads = [&] {
    if (threads != 0) steps.push_back(step(StepKind::kThreads, instance, 0, threads));
  };
  add_observers(steps, instance, file, When::kForEveryThread);
  const std::size_t begin = steps.size();
  if (threads_first) add_threads();
  const std::size_t observers = steps.size();
  add_observers(steps, instance, file, When::kBeforeRecord);
  const std::size_t gates = steps.size();
  if (file.trigger_list != 0) steps.push_back(step(StepKind::kTriggers, instance, 0, file.trigger_list));
  if (file.in_soft_mode()) steps.push_back(step(StepKind::kSoft, instance, file.soft_switch, 0));
  if (!threads_first) add_threads();
  if (file.filter_program != 0) steps.push_back(step(StepKind::kFilter, instance, 0, file.filter_program));
  const std::size_t gates_end = steps.size();
  add_records(steps, instance, record);
  // Gates skip to behind the record, and so do triggers when they have run it.
  end_skips_here(steps, gates, gates_end);
  add_observers(steps, instance, file, When::kBehindRecord);
  end_skips_here(steps, begin, observers);
}

}  // namespace

Result<void> Plans::publish(const Event& event) {
  std::vector<PlanStep> steps;
  for (const Instance* const instance : instances_.all()) {
    if (!event.listeners[instance->index]) continue;
    static const EventFile kNothing;
    const EventFile* const file = event.file(instance->index);
    // What is written to trace_marker has no stack and is of whatever thread, as in the kernel.
    const bool is_print = event.slot == plan::kPrintSlot;
    const bool has_stack = instance->has_stacks && !is_print;
    add_steps(steps, *instance, file == nullptr ? kNothing : *file,
              has_stack ? StepKind::kRecordWithStack : StepKind::kRecord, is_print ? 0 : instance->threads.published);
  }
  return publish(event, steps);
}

Result<void> Plans::publish_all(const Instance& instance) {
  for (const Event* const event : events_.all_and_print()) {
    if (event->listeners[instance.index]) LT_CHECK(publish(*event));
  }
  return {};
}

Result<void> Plans::publish(const Event& event, std::span<const PlanStep> steps) {
  std::uint32_t next = 0;
  if (!steps.empty()) {
    LT_TRY(next, control_.allocate(sizeof(plan::Plan) + steps.size_bytes(), 8));
    const plan::Plan plan{static_cast<std::uint32_t>(steps.size())};
    std::memcpy(control_.at(next), &plan, sizeof plan);
    std::memcpy(control_.at(next) + sizeof plan, steps.data(), steps.size_bytes());
  }
  plan::EventSlot& shared = control_.segment().events[event.slot];
  const std::uint32_t old = shared.plan;
  domain::publish(shared.plan, next);
  // Only now: whoever enters its section from here on finds the new plan.
  if (old != 0) grace_.after_readers([this, old] { control_.free(old); }, Events::holders_of(event));
  return {};
}

PlanStep Plans::record_step(const Instance& instance) const {
  if (!instance.flip) return record_into(instance.place, instance);
  return record_into(instance.flip->places[cells_.count_of(instance.flip->counter) & 1], instance);
}

}  // namespace landtrace::domain
