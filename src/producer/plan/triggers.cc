#include "plan/triggers.hpp"

#include <linux/futex.h>

#include <algorithm>
#include <array>
#include <climits>
#include <span>
#include <utility>

#include "base/system_call.hpp"
#include "plan/event_probe.hpp"
#include "plan/histogram.hpp"
#include "plan/program.hpp"
#include "plan/stack.hpp"

namespace landtrace::plan {
namespace {

// An event with triggers, in one instance.
class Firing {
 public:
  Firing(const View& view, const Thread& thread, const PlanStep& step, std::uint32_t event, arch::WriteRequest& request)
      : view_(view),
        thread_(thread),
        event_(event),
        request_(request),
        list_(*control_at<TriggerList>(view, static_cast<std::uint32_t>(step.triggers))),
        gates_(&step + 1),
        record_(gates_ + step.skip - 1),
        moment_(thread.mode.clock) {
    for (const PlanStep* flip = gates_; flip < record_; ++flip) {
      if (flip->kind == StepKind::kFlip) flip_ = flip;
    }
  }

  // No trigger looks at the event, so all come first. The event's own switch is looked at before them: one that they
  // throw counts from the next event on.
  void run_plain() {
    const bool soft_disabled = gates_->kind == StepKind::kSoft && is_thrown(cell(gates_->cell));
    for (const Trigger& trigger : triggers()) fire(trigger);
    if (!soft_disabled && is_let_through(false)) detail::record_as_said(view_, thread_, record(), request_);
  }

  // Whether the event is recorded, and where, is decided before its triggers run, as in the kernel.
  void run_conditional() {
    const PlanStep& place = record();
    const bool stopped = is_thrown(cell(place.cell));
    std::array<const Trigger*, kMaxLate> late;
    std::uint32_t late_count = 0;
    bool is_recorded = false;
    const auto record_once = [&] {
      if (std::exchange(is_recorded, true) || stopped || !is_let_through(true)) return;
      detail::record_always(view_, thread_, place, request_, TimeOfWrite{});
      if (place.kind == StepKind::kRecordWithStack) record_stack(view_, thread_, place);
    };
    for (const Trigger& trigger : triggers()) {
      if (trigger.filter != 0 && !passes(trigger.filter)) continue;
      if (happens_late(trigger) && late_count < kMaxLate) {
        late[late_count++] = &trigger;
      } else {
        // The events that it makes stand behind this one.
        if (makes_events(trigger)) record_once();
        fire(trigger);
      }
    }
    record_once();
    for (std::uint32_t i = 0; i < late_count; ++i) fire(*late[i]);
  }

 private:
  [[nodiscard]] std::span<const Trigger> triggers() const { return {list_.triggers(), list_.count}; }
  [[nodiscard]] Cell& cell(std::uint32_t index) const { return view_.data->cells[index]; }
  [[nodiscard]] const PlanStep& record() const { return flip_ == nullptr ? *record_ : detail::flipped(view_, *flip_); }

  [[nodiscard]] bool passes(std::uint32_t program) const {
    const auto seen = static_cast<std::uint32_t>(request_.segment_count) - view_.unseen;
    return detail::passes(view_, thread_, program, event_, request_.segments, seen);
  }

  // An event has at most one trigger of each family, and one for each event that it switches; these are never late.
  static constexpr std::uint32_t kMaxLate = 4;
  // An event that the kernel has begun to write before it takes a snapshot ends up in that.
  static bool happens_late(const Trigger& trigger) {
    return trigger.is_late || trigger.action == TriggerAction::kSnapshot;
  }

  bool is_let_through(bool with_switch) const {
    const PlanStep* const end = flip_ == nullptr ? record_ : flip_;
    return std::all_of(gates_, end, [&](const PlanStep& gate) {
      return (gate.kind == StepKind::kSoft && !with_switch) ||
             detail::is_let_through(view_, thread_, gate, event_, request_);
    });
  }

  [[nodiscard]] bool makes_events(const Trigger& trigger) const {
    if (trigger.action == TriggerAction::kEventProbe) return true;
    return trigger.action == TriggerAction::kHistogram && histogram_of(view_, trigger).action_count != 0;
  }

  // As in the kernel, where a trigger that finds the switch thrown already does not count.
  void throw_once(const Trigger& trigger, bool thrown) const {
    Cell& target = cell(trigger.target);
    if (is_thrown(target) == thrown || !may_happen(trigger)) return;
    throw_now(target, thrown, arch::read_raw_clock(thread_.mode.clock));
    tell_others(view_);
  }
  // The switch of an event's histograms. They have switches of their own, too, of which the newest throw counts: what
  // was thrown here before may have been thrown back there.
  void throw_each_time(const Trigger& trigger, bool thrown) const {
    if (!may_happen(trigger)) return;
    Cell& target = cell(trigger.target);
    throw_now(target, thrown, arch::read_raw_clock(thread_.mode.clock));
    tell_others(view_);
  }
  // Counts the happening where the trigger has a limit.
  [[nodiscard]] bool may_happen(const Trigger& trigger) const {
    return trigger.count == 0 || count_up_to(cell(trigger.count), trigger.limit);
  }

  void fire(const Trigger& trigger) {
    switch (trigger.action) {
      case TriggerAction::kTraceOn:
      case TriggerAction::kEnableEvent:
        return throw_once(trigger, false);
      case TriggerAction::kTraceOff:
      case TriggerAction::kDisableEvent:
        return throw_once(trigger, true);
      case TriggerAction::kSnapshot:
        if (!may_happen(trigger)) return;
        count(cell(trigger.target));
        return tell_others(view_);
      case TriggerAction::kStackTrace:
        if (may_happen(trigger)) record_stack(view_, thread_, record());
        return;
      case TriggerAction::kContinueHistogram:
        return throw_each_time(trigger, false);
      case TriggerAction::kPauseHistogram:
        return throw_each_time(trigger, true);
      case TriggerAction::kEventProbe:
        return run_event_probe(view_, thread_, *control_at<EventProbePlan>(view_, trigger.target), request_);
      case TriggerAction::kProgram:
        return run_bpf(view_, thread_, program_of(view_, trigger), request_.segments,
                       static_cast<std::uint32_t>(request_.segment_count) - view_.unseen);
      case TriggerAction::kHistogram:
        return run_histogram(view_, thread_, histogram_of(view_, trigger), event_, request_.segments,
                             static_cast<std::uint32_t>(request_.segment_count), moment_);
    }
  }

  const View& view_;
  const Thread& thread_;
  std::uint32_t event_;
  arch::WriteRequest& request_;
  const TriggerList& list_;
  const PlanStep* gates_;
  const PlanStep* record_;
  const PlanStep* flip_ = nullptr;
  hist::Moment moment_;
};

}  // namespace

void tell_others(const View& view) {
  if (__atomic_load_n(&view.control->user_count, __ATOMIC_RELAXED) < 2) return;
  // The change, then the count: pairs with the acquire load in value_of(), domain/attention.cc.
  __atomic_fetch_add(&view.data->attention, 1, __ATOMIC_RELEASE);
  // Without the call the owner finds it when another thread wakes it.
  if (arch::may_call()) system_call(SYS_futex, &view.data->attention, FUTEX_WAKE, INT_MAX);
}

void run_triggers(const View& view, const Thread& thread, const PlanStep& step, std::uint32_t event,
                  arch::WriteRequest& request) {
  Firing firing(view, thread, step, event, request);
  if (control_at<TriggerList>(view, static_cast<std::uint32_t>(step.triggers))->is_conditional) {
    firing.run_conditional();
  } else {
    firing.run_plain();
  }
}

}  // namespace landtrace::plan
