#include "rules/selection.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rules/file_rules.hpp"
#include "language/filter/compile.hpp"

namespace landtrace::rules {
namespace {

// An instance that lives long may see any number of events.
constexpr std::size_t kMaxUnfit = 1000;

// What is attached to a domain::Instance.
struct InstanceRules final : domain::Attachment {
  std::vector<Selection> selections;  // events that register later are listened to if one of these matches
  std::vector<Unfit> unfit;           // what of the selections' filters and triggers does not hold
};

const InstanceRules* find_instance_rules(const Instance& instance) {
  return static_cast<const InstanceRules*>(instance.rules.get());
}

InstanceRules& rules_of(Instance& instance) {
  if (!instance.rules) instance.rules = std::make_unique<InstanceRules>();
  return static_cast<InstanceRules&>(*instance.rules);
}

std::string full_name(const Event& event) { return fmt::format("{}:{}", event.system, event.name); }

void forget_unfit(Instance& instance, const Event& event, std::string_view rule) {
  std::erase_if(rules_of(instance).unfit,
                [&](const Unfit& unfit) { return unfit.event == full_name(event) && unfit.rule == rule; });
}

void note_unfit(Instance& instance, const Event& event, Unfit unfit) {
  forget_unfit(instance, event, unfit.rule);
  unfit.event = full_name(event);
  auto& known = rules_of(instance).unfit;
  if (known.size() < kMaxUnfit) known.push_back(std::move(unfit));
}

std::string sentence(const language::FilterFailure& failure) {
  return failure.kind == language::FilterFailureKind::kUnspecified ? "this is no filter expression"
                                                                   : std::string(filter_failure_text(failure.kind));
}

// Whether the event has just this trigger already.
bool has_trigger(const Instance& instance, const Event& event, std::string_view text) {
  const auto wanted = language::parse_trigger(text);
  const FileRules* const file = rules::find_rules(event, instance);
  return wanted && file != nullptr &&
         std::any_of(file->triggers.begin(), file->triggers.end(), [&](const EventTrigger& other) {
           const language::TriggerCommand& has = other.command;
           return has.kind == wanted->kind && has.system == wanted->system && has.event == wanted->event &&
                  has.count == wanted->count && has.condition == wanted->condition &&
                  has.definition == wanted->definition;
         });
}

bool switches(const std::string& text, const Event& target) {
  const auto command = language::parse_trigger(text);
  return command && command->system == target.system && command->event == target.name;
}

}  // namespace

Result<void> check_rules(const Selection& selection) {
  if (!selection.filter.empty()) {
    if (const auto checked = language::check_filter(selection.filter); !checked) {
      return fail(EINVAL, sentence(checked.error()));
    }
  }
  for (const std::string& text : selection.triggers) {
    LT_TRY(const language::TriggerCommand command, language::parse_trigger(text));
    if (command.removes) return fail(EINVAL, "there is no trigger yet that could be removed");
    LT_CHECK(trigger_count(command));
    LT_TRY(const std::string condition, trigger_filter(command));
    if (condition.empty()) continue;
    if (const auto checked = language::check_filter(condition); !checked) {
      return fail(EINVAL, sentence(checked.error()));
    }
  }
  return {};
}

std::vector<Event*> Selections::matching(const Pattern& pattern) {
  std::vector<Event*> events = events_.all();
  std::erase_if(events, [&](const Event* event) { return !pattern.matches(event->system, event->name); });
  return events;
}

Result<void> Selections::select(Instance& instance, Selection selection) {
  LT_CHECK(check_rules(selection));
  const std::vector<Event*> events = matching(selection.pattern);
  // Before they are listened to: nothing is recorded that the filter would reject.
  for (Event* const event : events) give_rules(instance, *event, selection);
  rules_of(instance).selections.push_back(std::move(selection));
  std::vector<bool> by_name;  // alone: nobody has enabled it in particular
  for (const Event* const event : events) {
    by_name.push_back(!event->listeners[instance.index] || event->selected_by[instance.index]);
  }
  auto set = listening_.set(instance, events, true);
  for (std::size_t i = 0; i < events.size(); ++i) events[i]->selected_by[instance.index] = by_name[i];
  return set;
}

Result<void> Selections::listen(Instance& instance, const Pattern& pattern, bool on) {
  deselect(instance, pattern.text());
  if (on) return select(instance, {pattern, {}, {}});
  return listening_.set(instance, matching(pattern), false);
}

bool Selections::selects(const Instance& instance, std::string_view pattern) {
  const InstanceRules* const rules = find_instance_rules(instance);
  return rules != nullptr && std::any_of(rules->selections.begin(), rules->selections.end(), [&](const Selection& one) {
           return one.pattern.text() == pattern;
         });
}

void Selections::deselect(Instance& instance, std::string_view pattern) {
  if (find_instance_rules(instance) == nullptr) return;
  std::erase_if(rules_of(instance).selections, [&](const Selection& one) { return one.pattern.text() == pattern; });
}

Result<void> Selections::apply_to(Event& event) {
  for (Instance* const instance : instances_.all()) {
    if (find_instance_rules(*instance) == nullptr) continue;
    for (const Selection& selection : rules_of(*instance).selections) {
      if (!selection.pattern.matches(event.system, event.name)) continue;
      event.listeners[instance->index] = event.selected_by[instance->index] = true;
      give_rules(*instance, event, selection);
    }
    give_waiting_triggers(*instance, event);
  }
  return event.listeners.any() ? plans_.publish(event) : Result<void>();
}

void Selections::give_rules(Instance& instance, Event& event, const Selection& selection) {
  if (!selection.filter.empty()) {
    const auto set = filters_.set(instance, event, selection.filter);
    if (set) {
      forget_unfit(instance, event, selection.filter);
    } else {
      note_unfit(instance, event, {{}, selection.filter, false, sentence(set.error())});
    }
  }
  for (const std::string& text : selection.triggers) give_trigger(instance, event, text);
}

void Selections::give_trigger(Instance& instance, Event& event, const std::string& text) {
  if (has_trigger(instance, event, text)) return;
  const auto applied = triggers_.apply(instance, event, text);
  if (applied) return forget_unfit(instance, event, text);
  const RefusedTrigger& refused = applied.error();
  const std::string reason = refused.filter                   ? sentence(*refused.filter)
                             : !refused.error.message.empty() ? refused.error.message
                                                              : errno_text(refused.error.code);
  note_unfit(instance, event, {{}, text, true, reason});
}

void Selections::give_waiting_triggers(Instance& instance, const Event& target) {
  for (const Selection& selection : rules_of(instance).selections) {
    for (const std::string& text : selection.triggers) {
      if (!switches(text, target)) continue;
      for (Event* const event : matching(selection.pattern)) give_trigger(instance, *event, text);
    }
  }
}

const std::vector<Unfit>& Selections::unfit_of(const Instance& instance) {
  static const std::vector<Unfit> kNone;
  const InstanceRules* const rules = find_instance_rules(instance);
  return rules == nullptr ? kNone : rules->unfit;
}

void Selections::forget(Instance& instance) {
  if (instance.rules) rules_of(instance).selections.clear();
}

}  // namespace landtrace::rules
