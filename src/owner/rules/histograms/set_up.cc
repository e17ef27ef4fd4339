#include "rules/histograms/set_up.hpp"

#include <algorithm>

#include "arch/trace_clocks.hpp"
#include "rules/filters.hpp"
#include "rules/histograms/actions.hpp"
#include "rules/histograms/describe.hpp"
#include "rules/histograms/line.hpp"
#include "rules/histograms/resolve.hpp"
#include "rules/histograms/tables.hpp"
#include "rules/trigger_list.hpp"

namespace landtrace::rules {
namespace {

using language::HistMistake;
using Applied = tl::expected<void, RefusedTrigger>;

tl::unexpected<RefusedTrigger> refuse(Error error) {
  return tl::unexpected<RefusedTrigger>({std::move(error), {}, {}});
}

Applied as_applied(Result<void> result) {
  if (!result) return refuse(std::move(result).error());
  return {};
}

class SetUp {
 public:
  SetUp(Domain& domain, Instance& instance, Event& event, language::HistComplaints& complaints)
      : domain_(domain), instance_(instance), event_(event), complaints_(complaints) {}

  Applied apply(language::TriggerCommand command) {
    auto parts = language::split_condition(command.definition);
    if (!parts) return refuse(std::move(parts).error());
    command.condition = std::move(parts->condition);
    const bool removes = command.removes;
    auto histogram = resolve_histogram(domain_, instance_, event_, parts->definition, removes, complaints_);
    if (!histogram) return refuse(std::move(histogram).error());
    EventTrigger made;
    made.command = std::move(command);
    made.histogram = *std::move(histogram);
    if (auto taken = take_filter(made); !taken) return taken;
    auto done = removes ? remove(made) : add_or_change(made);
    if (is_added_) return as_applied(std::move(done));
    give_back(domain_, instance_, made);
    return as_applied(std::move(done));
  }

 private:
  Applied take_filter(EventTrigger& made) {
    auto filter = trigger_filter(made.command);
    if (!filter) return refuse(std::move(filter).error());
    made.filter = *std::move(filter);
    if (made.filter.empty()) return {};
    const auto program = store_program(domain_, event_, made.filter);
    if (program) {
      made.program = *program;
      return {};
    }
    return tl::unexpected<RefusedTrigger>(
        {Error(program.error().code, "the filter is refused"), program.error(), made.filter});
  }

  std::vector<EventTrigger>& list() { return event_.files[instance_.index].triggers; }

  // The trigger that a command is about; nullptr: there is none.
  EventTrigger* find(const EventTrigger& wanted) {
    const Histogram& histogram = *wanted.histogram;
    const bool is_named = find_named(domain_, histogram.attributes.name) != nullptr;
    for (EventTrigger& trigger : list()) {
      if (!trigger.histogram || trigger.filter != wanted.filter) continue;
      if (trigger.histogram->attributes.name != (is_named ? histogram.attributes.name : "")) continue;
      if (is_same_histogram(histogram, *trigger.histogram)) return &trigger;
    }
    return nullptr;
  }

  Result<void> remove(const EventTrigger& wanted) {
    EventTrigger* const found = find(wanted);
    if (found == nullptr) return {};
    if (is_used(domain_, *found->histogram)) return fail(EBUSY, "others use the histogram's variables");
    remove_trigger(domain_, instance_, event_, static_cast<std::size_t>(found - list().data()));
    domain_.settle();
    return {};
  }

  Result<void> add_or_change(EventTrigger& made) {
    Histogram& histogram = *made.histogram;
    const language::HistAttributes& attributes = histogram.attributes;
    if (attributes.only_changes()) {
      if (EventTrigger* const found = find_to_change(made)) return change(*found, attributes);
    }
    const MakeHidden make_hidden = [this](Event& event, const std::string& command) { return make_on(event, command); };
    LT_CHECK(resolve_actions(domain_, instance_, event_, histogram, make_hidden, complaints_));

    const Histogram* const named = find_named(domain_, attributes.name);
    if (named != nullptr && !is_same_histogram(histogram, *named)) {
      return complaints_.refuse(HistMistake::kNamedMismatch, "name=" + attributes.name);
    }
    if (find_to_change(made) != nullptr) return complaints_.refuse(HistMistake::kExists, {}, EEXIST);
    if (attributes.resume || attributes.clear) return complaints_.refuse(HistMistake::kNothingToClear, {}, ENOENT);
    if (histogram.uses_time) LT_CHECK(set_clock(attributes.clock));
    LT_TRY(const std::uint32_t of_event, hist_switch_of(domain_, instance_, event_));
    LT_TRY(made.pause, domain_.cells().take_switch(attributes.pause));
    LT_CHECK(take_table(domain_, instance_, histogram, named));
    LT_TRY(made.plan, store_plan(domain_, instance_, histogram, made.pause, of_event));
    is_added_ = true;
    return add_trigger(domain_, instance_, event_, made, ListEnd::kBack);
  }

  // A name that nobody has yet is a new histogram's.
  EventTrigger* find_to_change(const EventTrigger& made) {
    const std::string& name = made.histogram->attributes.name;
    if (!name.empty() && find_named(domain_, name) == nullptr) return nullptr;
    return find(made);
  }

  Result<void> change(EventTrigger& found, const language::HistAttributes& attributes) {
    if (attributes.pause || attributes.resume) {
      domain_.cells().set_switch(found.pause, attributes.pause);
      return {};
    }
    LT_CHECK(clear(*found.histogram));
    if (!found.histogram->attributes.name.empty()) resume_all(*found.histogram->table);
    return {};
  }

  Result<void> clear(const Histogram& histogram) {
    LT_CHECK(renew_table(domain_, histogram));
    return republish_users(domain_, *histogram.table);
  }

  // The kernel pauses histograms that share a table while it clears that.
  void resume_all(const HistogramTable& table) {
    for_each_histogram(domain_, [&](Instance&, Event&, EventTrigger& trigger) {
      if (trigger.histogram->table.get() == &table) domain_.cells().set_switch(trigger.pause, false);
    });
  }

  Result<void> set_clock(const std::string& name) {
    const bool is_set = arch::trace_clock_named(name) != nullptr && (!instance_.set_clock || instance_.set_clock(name));
    return is_set ? Result<void>() : complaints_.refuse(HistMistake::kClock, name);
  }

  Result<void> make_on(Event& event, const std::string& definition) {
    language::TriggerCommand command;
    command.kind = language::TriggerKind::kHist;
    command.definition = definition;
    const Events::Hold hold(domain_.events(), event);
    auto applied = SetUp(domain_, instance_, event, complaints_).apply(std::move(command));
    if (!applied) return tl::unexpected<Error>(std::move(applied).error().error);
    return {};
  }

  Domain& domain_;
  Instance& instance_;
  Event& event_;
  language::HistComplaints& complaints_;
  bool is_added_ = false;
};

}  // namespace

Applied apply_histogram(Domain& domain, Instance& instance, Event& event, const language::TriggerCommand& command,
                        language::HistComplaints& complaints) {
  return SetUp(domain, instance, event, complaints).apply(command);
}

bool are_variables_used(Domain& domain, const Instance& instance, const Event& event) {
  const auto histograms = histograms_of(event, instance);
  return std::any_of(histograms.begin(), histograms.end(),
                     [&](const HistogramPtr& histogram) { return is_used(domain, *histogram); });
}

void let_go_of(Domain& domain, Instance& instance, const Histogram& gone) {
  for (const std::uint32_t slot : gone.held_events) domain.events().drop_reference(slot);
  if (gone.holds_snapshot) release_snapshot(instance);
  for (const HiddenHistogram& hidden : gone.hidden) {
    Event* const event = domain.events().at(hidden.event_slot);
    if (event == nullptr || event->serial != hidden.event_serial) continue;
    language::TriggerCommand command;
    command.kind = language::TriggerKind::kHist;
    command.removes = true;
    command.definition = hidden.command;
    language::HistComplaints unheard;
    const Events::Hold hold(domain.events(), *event);
    std::ignore = apply_histogram(domain, instance, *event, command, unheard);
  }
}

bool is_paused(const Domain& domain, const EventFile& file, const EventTrigger& trigger) {
  return domain.cells().is_thrown(trigger.pause, file.hist_switch);
}

std::string histogram_line(const Domain& domain, const EventFile& file, const EventTrigger& trigger) {
  std::string text = definition_text(*trigger.histogram);
  if (!trigger.filter.empty()) text += " if " + trigger.filter;
  return text + (is_paused(domain, file, trigger) ? " [paused]\n" : " [active]\n");
}

}  // namespace landtrace::rules
