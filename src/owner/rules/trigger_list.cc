#include "rules/trigger_list.hpp"

#include <utility>

#include "rules/histograms/set_up.hpp"
#include "rules/probes.hpp"

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

std::vector<std::byte> bytes_of(const std::vector<plan::Trigger>& triggers, bool is_conditional) {
  std::vector<std::byte> bytes(sizeof(plan::TriggerList) + triggers.size() * sizeof(plan::Trigger));
  const plan::TriggerList header{static_cast<std::uint32_t>(triggers.size()), is_conditional};
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, triggers.data(), triggers.size() * sizeof(plan::Trigger));
  return bytes;
}

std::vector<plan::Trigger> triggers_of_probes(Domain& domain, const EventFile& file) {
  std::vector<plan::Trigger> triggers;
  for (const std::uint32_t slot : file.probes) {
    const Event* const probe = domain.events().at(slot);
    if (probe == nullptr || !probe->probe) continue;
    plan::Trigger trigger{};
    trigger.action = plan::TriggerAction::kProbe;
    trigger.filter = probe->probe->program;
    trigger.target = probe->probe->plan;
    triggers.push_back(trigger);
  }
  return triggers;
}

}  // namespace

Result<void> publish_triggers(Domain& domain, Instance& instance, Event& event) {
  EventFile& file = event.files[instance.index];
  std::uint32_t next = 0;
  std::vector<plan::Trigger> shared;
  for (const EventTrigger& trigger : file.triggers) shared.push_back(shared_form(trigger));
  const std::vector<plan::Trigger> probes = triggers_of_probes(domain, file);
  shared.insert(shared.end(), probes.begin(), probes.end());
  if (!shared.empty()) {
    LT_TRY(next, domain.control().store(bytes_of(shared, is_conditional(file.triggers) || !probes.empty())));
  }
  const std::uint32_t old = std::exchange(file.trigger_list, next);
  auto published = domain.publish(event);
  if (!published) file.trigger_list = old;
  const std::uint32_t gone = published ? old : next;
  if (gone != 0) domain.grace().after_readers([&domain, gone] { domain.control().free(gone); });
  return published;
}

Result<void> add_trigger(Domain& domain, Instance& instance, Event& event, EventTrigger made, ListEnd end) {
  auto& list = event.files[instance.index].triggers;
  const auto place = static_cast<std::ptrdiff_t>(end == ListEnd::kFront ? 0 : list.size());
  list.insert(list.begin() + place, made);
  auto ready = domain.hold_soft(instance, event);
  if (ready) {
    ready = publish_triggers(domain, instance, event);
    if (ready) return {};
    domain.release_soft(instance, event);
  }
  list.erase(list.begin() + place);
  give_back(domain, instance, made);
  return ready;
}

void remove_trigger(Domain& domain, Instance& instance, Event& event, std::size_t index) {
  auto& list = event.files[instance.index].triggers;
  const EventTrigger gone = std::move(list[index]);
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(index));
  // With no room for a shorter list producers go on with the old one, and what it needs stays.
  if (!publish_triggers(domain, instance, event)) return;
  give_back(domain, instance, gone);
  domain.release_soft(instance, event);
}

void give_back(Domain& domain, Instance& instance, const EventTrigger& gone) {
  if (gone.target != 0 && has_target(family_of(gone.command.kind))) {
    if (Event* const target = domain.events().at(gone.target_slot)) domain.release_soft(instance, *target);
  }
  if (gone.target != 0 && family_of(gone.command.kind) == TriggerFamily::kSnapshot) release_snapshot(instance);
  domain.grace().after_readers(
      [&domain, counter = gone.counter, program = gone.program, pause = gone.pause, plan = gone.plan] {
        if (counter != 0) domain.cells().give_back(counter);
        if (pause != 0) domain.cells().give_back(pause);
        if (program != 0) domain.control().free(program);
        if (plan != 0) domain.control().free(plan);
      });
  if (gone.histogram) let_go_of(domain, instance, *gone.histogram);
}

Result<void> hold_snapshot(Instance& instance) {
  if (instance.snapshot_triggers == 0) {
    if (!instance.arm_snapshot) return fail(EINVAL, "this instance has no snapshot");
    LT_CHECK(instance.arm_snapshot(true));
  }
  ++instance.snapshot_triggers;
  return {};
}

void release_snapshot(Instance& instance) {
  if (--instance.snapshot_triggers == 0 && instance.arm_snapshot) std::ignore = instance.arm_snapshot(false);
}

Result<std::uint32_t> hist_switch_of(Domain& domain, Instance& instance, Event& event) {
  std::uint32_t& cell = event.files[instance.index].hist_switch;
  if (cell == 0) {
    LT_TRY(cell, domain.cells().take_switch(false));
  }
  return cell;
}

}  // namespace landtrace::rules
