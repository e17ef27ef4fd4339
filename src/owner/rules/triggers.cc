#include "rules/triggers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rules/snapshots.hpp"

namespace landtrace::rules {
namespace {

using language::TriggerFamily;
using language::TriggerKind;
using List = std::vector<EventTrigger>;

bool has_triggers(const Event& event, const Instance& instance) {
  const FileRules* const rules = find_rules(event, instance);
  return rules != nullptr && !rules->triggers.empty();
}

// An event has one trigger of a family, or one for each event that it switches.
List::iterator find_command(List& list, const language::TriggerCommand& command, const Event* target) {
  return std::find_if(list.begin(), list.end(), [&](const EventTrigger& trigger) {
    return family_of(trigger.command.kind) == family_of(command.kind) &&
           (target == nullptr || trigger.target_slot == target->slot);
  });
}

}  // namespace

tl::expected<void, RefusedTrigger> Triggers::apply(Instance& instance, Event& event, std::string_view text,
                                                   language::HistComplaints* complaints) {
  auto command = language::parse_trigger(text);
  if (!command) return refuse(std::move(command).error());
  if (command->kind == TriggerKind::kHist) {
    language::HistComplaints unheard;
    if (complaints == nullptr) complaints = &unheard;
    complaints->begin("hist:" + command->definition);
    const Events::Hold hold(events_, event);
    return histograms_.apply(instance, event, *command, *complaints);
  }
  if (!command->event.empty() && target_of(*command) == nullptr) {
    return refuse(Error(EINVAL, fmt::format("there is no event {}:{}", command->system, command->event)));
  }
  // Taking a trigger away, or failing to add one, may let go of the event that is in our hands.
  const Events::Hold hold(events_, event);
  if (!command->removes) return add(instance, event, *command);
  remove(instance, event, *command);
  grace_.settle();
  return {};
}

tl::expected<void, RefusedTrigger> Triggers::add(Instance& instance, Event& event,
                                                 const language::TriggerCommand& command) {
  EventTrigger made;
  made.command = command;
  auto limit = trigger_count(command);
  if (!limit) return refuse(std::move(limit).error());
  auto filter = trigger_filter(command);
  if (!filter) return refuse(std::move(filter).error());
  made.limit = *limit;
  made.filter = *std::move(filter);
  if (!made.filter.empty()) {
    const auto program = filters_.store(event, made.filter);
    if (!program) {
      return tl::unexpected<RefusedTrigger>(
          {Error(program.error().code, "the filter is refused"), program.error(), made.filter});
    }
    made.program = *program;
  }
  Event* const target = target_of(command);
  List& list = rules_of(event, instance).triggers;
  if (find_command(list, command, target) != list.end()) {
    lists_.give_back(instance, made);
    return refuse(Error(EEXIST, fmt::format("{} has a trigger of this kind already", event.name)));
  }
  if (target != nullptr) made.target_slot = target->slot;
  auto ready = take_what_it_needs(instance, made, target);
  if (!ready) {
    lists_.give_back(instance, made);
    return refuse(std::move(ready).error());
  }
  auto added = lists_.add(instance, event, std::move(made), TriggerLists::End::kFront);
  if (!added) return refuse(std::move(added).error());
  return {};
}

Result<void> Triggers::take_what_it_needs(Instance& instance, EventTrigger& made, Event* target) {
  if (made.limit != language::kUnlimited) {
    LT_TRY(made.counter, cells_.take_counter());
  }
  switch (family_of(made.command.kind)) {
    case TriggerFamily::kTracing:
      made.target = instance.stop_switch;
      return {};
    case TriggerFamily::kSnapshot:
      LT_CHECK(hold_snapshot(instance));
      made.target = instance.flip->counter;
      return {};
    case TriggerFamily::kEnabling:
      LT_CHECK(listening_.hold_soft(instance, *target));
      made.target = target->files[instance.index].soft_switch;
      return {};
    case TriggerFamily::kHistEnabling: {
      LT_TRY(const std::uint32_t cell, lists_.hist_switch_of(instance, *target));
      LT_CHECK(listening_.hold_soft(instance, *target));
      made.target = cell;
      return {};
    }
    case TriggerFamily::kStackTrace:
    case TriggerFamily::kHist:
      break;
  }
  return {};
}

void Triggers::remove(Instance& instance, Event& event, const language::TriggerCommand& command) {
  List& list = rules_of(event, instance).triggers;
  const auto found = find_command(list, command, target_of(command));
  if (found != list.end()) lists_.remove(instance, event, static_cast<std::size_t>(found - list.begin()));
}

void Triggers::remove_all(Instance& instance, Event& event) {
  if (!has_triggers(event, instance)) return;
  const Events::Hold hold(events_, event);
  while (has_triggers(event, instance)) lists_.remove(instance, event, 0);
}

void Triggers::remove_all(Instance& instance, Event& event, TriggerFamily family) {
  const List& list = rules_of(event, instance).triggers;
  for (std::size_t i = list.size(); i-- > 0;) {
    if (i >= list.size()) continue;  // a histogram takes with it what it has made
    if (family_of(list[i].command.kind) == family) lists_.remove(instance, event, i);
  }
}

void Triggers::truncate(Instance& instance, Event& event) {
  if (!has_triggers(event, instance)) return;
  const Events::Hold hold(events_, event);
  if (!histograms_.are_variables_used(instance, event)) remove_all(instance, event, TriggerFamily::kHist);
  remove_all(instance, event, TriggerFamily::kHistEnabling);
  grace_.settle();
}

void Triggers::refresh_functions(Instance& instance, Event& event) {
  if (!has_triggers(event, instance)) return;
  std::vector<std::uint32_t> old;
  for (EventTrigger& trigger : rules_of(event, instance).triggers) {
    if (!filters_.uses_functions(trigger.program)) continue;
    const auto program = filters_.store(event, trigger.filter);
    if (program) old.push_back(std::exchange(trigger.program, *program));
  }
  if (old.empty() || !lists_.publish(instance, event)) return;
  grace_.after_readers([&control = control_, old] {
    for (const std::uint32_t program : old) control.free(program);
  });
}

Event* Triggers::target_of(const language::TriggerCommand& command) {
  return command.event.empty() ? nullptr : events_.find(command.system, command.event);
}

std::int64_t Triggers::left_of(const EventTrigger& trigger) const {
  if (trigger.counter == 0) return trigger.limit;
  const auto limit = static_cast<std::uint64_t>(trigger.limit);
  return static_cast<std::int64_t>(limit - std::min(limit, cells_.count_of(trigger.counter)));
}

std::string Triggers::text(const Instance& instance, const Event& event) const {
  if (!has_triggers(event, instance)) return language::no_trigger_text();
  const FileRules& rules = *find_rules(event, instance);
  std::string text;
  for (const EventTrigger& trigger : rules.triggers) {
    text += trigger.histogram ? histograms_.line(rules, trigger)
                              : language::trigger_line(trigger.command, left_of(trigger), trigger.filter);
  }
  return text;
}

}  // namespace landtrace::rules
