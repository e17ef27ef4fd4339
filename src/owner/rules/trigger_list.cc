#include "rules/trigger_list.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "hist/layout.hpp"
#include "rules/event_probes.hpp"
#include "rules/histograms/histograms.hpp"
#include "rules/snapshots.hpp"

namespace landtrace::rules {
namespace {

using language::TriggerFamily;
using language::TriggerKind;

plan::TriggerAction action_of(TriggerKind kind) {
  switch (kind) {
    case TriggerKind::kTraceOn:
      return plan::TriggerAction::kTraceOn;
    case TriggerKind::kTraceOff:
      return plan::TriggerAction::kTraceOff;
    case TriggerKind::kSnapshot:
      return plan::TriggerAction::kSnapshot;
    case TriggerKind::kStackTrace:
      return plan::TriggerAction::kStackTrace;
    case TriggerKind::kEnableEvent:
      return plan::TriggerAction::kEnableEvent;
    case TriggerKind::kEnableHist:
      return plan::TriggerAction::kContinueHistogram;
    case TriggerKind::kDisableHist:
      return plan::TriggerAction::kPauseHistogram;
    case TriggerKind::kHist:
      return plan::TriggerAction::kHistogram;
    case TriggerKind::kDisableEvent:
      break;
  }
  return plan::TriggerAction::kDisableEvent;
}

// Behind the event: a trace ends with the event that ended it, and a stack stands below its event.
bool is_late(TriggerKind kind) { return kind == TriggerKind::kTraceOff || kind == TriggerKind::kStackTrace; }

plan::Trigger shared_form(const EventTrigger& trigger) {
  return {action_of(trigger.command.kind),
          is_late(trigger.command.kind),
          trigger.program,
          trigger.target,
          trigger.counter,
          trigger.plan,
          static_cast<std::uint64_t>(trigger.limit)};
}

bool is_program(const plan::Trigger& trigger) { return trigger.action == plan::TriggerAction::kProgram; }
// Whether producers can run it without the others: it looks at the event, whatever these do.
bool observes(const plan::Trigger& trigger) {
  return is_program(trigger) || trigger.action == plan::TriggerAction::kHistogram;
}

domain::Observer program_step(const plan::Trigger& trigger) {
  return {plan::StepKind::kProgram, false, trigger.filter, trigger.target};
}

std::vector<std::byte> bytes_of(const std::vector<plan::Trigger>& triggers, bool is_conditional) {
  std::vector<std::byte> bytes(sizeof(plan::TriggerList) + triggers.size() * sizeof(plan::Trigger));
  const plan::TriggerList header{static_cast<std::uint32_t>(triggers.size()), is_conditional};
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, triggers.data(), triggers.size() * sizeof(plan::Trigger));
  return bytes;
}

}  // namespace

std::vector<plan::Trigger> TriggerLists::shared_forms(const FileRules& rules) const {
  std::vector<plan::Trigger> triggers;
  for (const EventTrigger& trigger : rules.triggers) triggers.push_back(shared_form(trigger));
  for (const std::uint32_t slot : rules.event_probes) {
    const Event* const event = events_.at(slot);
    const EventProbe* const probe = event == nullptr ? nullptr : find_event_probe(*event);
    if (probe == nullptr) continue;
    plan::Trigger trigger{};
    trigger.action = plan::TriggerAction::kEventProbe;
    trigger.filter = probe->program;
    trigger.target = probe->plan;
    triggers.push_back(trigger);
  }
  for (const std::uint32_t offset : rules.programs) {
    plan::Trigger trigger{};
    trigger.action = plan::TriggerAction::kProgram;
    trigger.target = offset;
    triggers.push_back(trigger);
  }
  return triggers;
}

std::vector<domain::Observer> TriggerLists::as_observers(const std::vector<plan::Trigger>& triggers) const {
  if (triggers.size() > plan::kMaxObservers || !std::all_of(triggers.begin(), triggers.end(), observes)) return {};
  std::vector<domain::Observer> observers;
  bool is_late = false;
  std::size_t looking_at_time = 0;
  for (const plan::Trigger& trigger : triggers) {
    if (is_program(trigger)) {
      observers.push_back(program_step(trigger));
      continue;
    }
    const auto& plan = *reinterpret_cast<const hist::HistPlan*>(control_.at(trigger.histogram));
    // The event that it makes is to stand behind this one.
    is_late = is_late || plan.action_count != 0;
    if (plan.uses_time) ++looking_at_time;
    observers.push_back({plan::StepKind::kHistogram, is_late, trigger.filter, trigger.histogram});
  }
  // Several of these are to see the same time.
  if (looking_at_time > 1) return {};
  return observers;
}

std::vector<domain::Observer> TriggerLists::take_observers(std::vector<plan::Trigger>& triggers,
                                                           bool are_conditional) const {
  std::vector<domain::Observer> observers = as_observers(triggers);
  if (!observers.empty()) {
    triggers.clear();
  } else if (are_conditional) {
    // Programs run for every thread, other triggers that look at the event do not (domain/plans.cc).
    const auto programs = std::stable_partition(triggers.begin(), triggers.end(), std::not_fn(is_program));
    if (static_cast<std::size_t>(triggers.end() - programs) > plan::kMaxObservers) return observers;
    std::transform(programs, triggers.end(), std::back_inserter(observers), program_step);
    triggers.erase(programs, triggers.end());
  }
  return observers;
}

Result<void> TriggerLists::publish(Instance& instance, Event& event) {
  EventFile& file = event.files[instance.index];
  const FileRules& rules = rules_of(event, instance);
  const bool is_print = event.slot == plan::kPrintSlot;
  const bool are_conditional = is_conditional(rules.triggers) || !rules.event_probes.empty();
  std::vector<plan::Trigger> shared = shared_forms(rules);
  std::vector<domain::Observer> observers;
  if (!is_print) observers = take_observers(shared, are_conditional);
  // Programs that had to stay in the list run for every thread, and so does what is there with them.
  bool looks_at_event = are_conditional && std::none_of(shared.begin(), shared.end(), is_program);
  std::uint32_t next = 0;
  if (!shared.empty()) {
    LT_TRY(next, control_.store(bytes_of(shared, are_conditional || is_print)));
  }
  const std::uint32_t old = std::exchange(file.trigger_list, next);
  std::swap(file.triggers_look_at_event, looks_at_event);
  std::swap(file.observers, observers);
  auto published = plans_.publish(event);
  if (!published) {
    file.trigger_list = old;
    std::swap(file.triggers_look_at_event, looks_at_event);
    std::swap(file.observers, observers);
  }
  const std::uint32_t gone = published ? old : next;
  if (gone != 0) grace_.after_readers([&control = control_, gone] { control.free(gone); });
  return published;
}

// The cells that producers change for the trigger.
std::vector<std::uint32_t> TriggerLists::cells_of(const Instance& instance, const EventTrigger& trigger) {
  std::vector<std::uint32_t> cells;
  if (trigger.counter != 0) cells.push_back(trigger.counter);
  if (trigger.target != 0) cells.push_back(trigger.target);
  if (trigger.histogram && trigger.histogram->holds_snapshot && instance.flip) cells.push_back(instance.flip->counter);
  return cells;
}

Result<void> TriggerLists::add(Instance& instance, Event& event, EventTrigger made, End end) {
  const auto cells = cells_of(instance, made);
  for (const std::uint32_t cell : cells) cells_.add_writer(cell, event.slot);
  auto& list = rules_of(event, instance).triggers;
  const auto place = static_cast<std::ptrdiff_t>(end == End::kFront ? 0 : list.size());
  list.insert(list.begin() + place, made);
  // The event is enabled for its trigger, and as recorded as before.
  auto ready = listening_.hold_soft(instance, event);
  if (ready) {
    ready = publish(instance, event);
    if (ready) return {};
    listening_.release_soft(instance, event);
  }
  list.erase(list.begin() + place);
  for (const std::uint32_t cell : cells) cells_.drop_writer(cell, event.slot);
  give_back(instance, made);
  return ready;
}

void TriggerLists::remove(Instance& instance, Event& event, std::size_t index) {
  auto& list = rules_of(event, instance).triggers;
  const EventTrigger gone = std::move(list[index]);
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(index));
  // With no room for a shorter list producers go on with the old one, and what it needs stays.
  if (!publish(instance, event)) return;
  for (const std::uint32_t cell : cells_of(instance, gone)) cells_.remember(cell);
  // Before give_back(), so that no cell is another one by then.
  grace_.after_readers(
      [&cells = cells_, changed = cells_of(instance, gone), slot = event.slot] {
        for (const std::uint32_t cell : changed) cells.drop_writer(cell, slot);
      },
      domain::Holders::of_own_memory());
  give_back(instance, gone);
  listening_.release_soft(instance, event);
}

void TriggerLists::give_back(Instance& instance, const EventTrigger& gone) {
  const TriggerFamily family = family_of(gone.command.kind);
  if (gone.target != 0 && has_target(family)) {
    if (Event* const target = events_.at(gone.target_slot)) listening_.release_soft(instance, *target);
  }
  if (gone.target != 0 && family == TriggerFamily::kSnapshot) release_snapshot(instance);
  grace_.after_readers([&control = control_, program = gone.program, plan = gone.plan] {
    if (program != 0) control.free(program);
    if (plan != 0) control.free(plan);
  });
  grace_.after_readers(
      [&cells = cells_, counter = gone.counter, pause = gone.pause] {
        if (counter != 0) cells.give_back(counter);
        if (pause != 0) cells.give_back(pause);
      },
      domain::Holders::of_own_memory());
  // Last: with it others may go, whose triggers are in this list or in that of another event.
  if (gone.histogram) histograms_.let_go_of(instance, *gone.histogram);
}

Result<std::uint32_t> TriggerLists::hist_switch_of(Instance& instance, Event& event) {
  std::uint32_t& cell = rules_of(event, instance).hist_switch;
  if (cell == 0) {
    LT_TRY(cell, cells_.take_switch(false));
  }
  return cell;
}

}  // namespace landtrace::rules
