#include "rules/selection.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "domain/domain.hpp"
#include "rules/filters.hpp"
#include "rules/triggers.hpp"
#include "language/filter/compile.hpp"

namespace landtrace::rules {
namespace {

// An instance that lives long may see any number of events.
constexpr std::size_t kMaxUnfit = 1000;

std::string full_name(const Event& event) { return fmt::format("{}:{}", event.system, event.name); }

void forget_unfit(Instance& instance, const Event& event, std::string_view rule) {
  std::erase_if(instance.unfit,
                [&](const Unfit& unfit) { return unfit.event == full_name(event) && unfit.rule == rule; });
}

void note_unfit(Instance& instance, const Event& event, Unfit unfit) {
  forget_unfit(instance, event, unfit.rule);
  unfit.event = full_name(event);
  if (instance.unfit.size() < kMaxUnfit) instance.unfit.push_back(std::move(unfit));
}

std::string sentence(const language::FilterFailure& failure) {
  return failure.kind == language::FilterFailureKind::kUnspecified ? "this is no filter expression"
                                                                   : std::string(filter_failure_text(failure.kind));
}

// Whether the event has just this trigger already.
bool has_trigger(const Instance& instance, const Event& event, std::string_view text) {
  const auto wanted = language::parse_trigger(text);
  const EventFile* const file = event.file(instance.index);
  return wanted && file != nullptr &&
         std::any_of(file->triggers.begin(), file->triggers.end(), [&](const EventTrigger& other) {
           const language::TriggerCommand& has = other.command;
           return has.kind == wanted->kind && has.system == wanted->system && has.event == wanted->event &&
                  has.count == wanted->count && has.condition == wanted->condition &&
                  has.definition == wanted->definition;
         });
}

void give_trigger(Domain& domain, Instance& instance, Event& event, const std::string& text) {
  if (has_trigger(instance, event, text)) return;
  const auto applied = apply_trigger(domain, instance, event, text);
  if (applied) return forget_unfit(instance, event, text);
  const RefusedTrigger& refused = applied.error();
  const std::string reason = refused.filter                   ? sentence(*refused.filter)
                             : !refused.error.message.empty() ? refused.error.message
                                                              : errno_text(refused.error.code);
  note_unfit(instance, event, {{}, text, true, reason});
}

void give_rules(Domain& domain, Instance& instance, Event& event, const Selection& selection) {
  if (!selection.filter.empty()) {
    const auto set = set_filter(domain, instance, event, selection.filter);
    if (set) {
      forget_unfit(instance, event, selection.filter);
    } else {
      note_unfit(instance, event, {{}, selection.filter, false, sentence(set.error())});
    }
  }
  for (const std::string& text : selection.triggers) give_trigger(domain, instance, event, text);
}

bool switches(const std::string& text, const Event& target) {
  const auto command = language::parse_trigger(text);
  return command && command->system == target.system && command->event == target.name;
}

// Triggers of other events that have waited for this one.
void give_waiting_triggers(Domain& domain, Instance& instance, const Event& target) {
  for (const Selection& selection : instance.selections) {
    for (const std::string& text : selection.triggers) {
      if (!switches(text, target)) continue;
      for (Event* const event : domain.events().all()) {
        if (selection.pattern.matches(event->system, event->name)) give_trigger(domain, instance, *event, text);
      }
    }
  }
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

Result<void> Domain::select(Instance& instance, Selection selection) {
  LT_CHECK(check_rules(selection));
  std::vector<Event*> matching = events_.all();
  std::erase_if(matching, [&](const Event* event) { return !selection.pattern.matches(event->system, event->name); });
  // Before they are listened to: nothing is recorded that the filter would reject.
  for (Event* const event : matching) give_rules(*this, instance, *event, selection);
  instance.selections.push_back(std::move(selection));
  return listen(instance, matching, true);
}

// The event is new, and nobody can emit it yet.
Result<void> Domain::listen_as_selected(Event& event) {
  ++event.references;  // whatever comes of the triggers, the event is the caller's
  for (Instance* const instance : instances_.all()) {
    for (const Selection& selection : instance->selections) {
      if (!selection.pattern.matches(event.system, event.name)) continue;
      event.listeners[instance->index] = true;
      give_rules(*this, *instance, event, selection);
    }
    give_waiting_triggers(*this, *instance, event);
  }
  --event.references;
  return event.listeners.any() ? publish(event) : Result<void>();
}

}  // namespace landtrace::rules
