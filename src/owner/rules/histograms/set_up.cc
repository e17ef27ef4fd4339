#include "rules/histograms/set_up.hpp"

#include <algorithm>

#include "arch/trace_clocks.hpp"
#include "rules/histograms/resolve_actions.hpp"
#include "rules/histograms/describe.hpp"
#include "rules/histograms/resolve.hpp"
#include "rules/histograms/search.hpp"

namespace landtrace::rules {
namespace {

using language::HistMistake;
using Applied = tl::expected<void, RefusedTrigger>;

Applied as_applied(Result<void> result) {
  if (!result) return refuse(std::move(result).error());
  return {};
}

class SetUp {
 public:
  SetUp(const HistogramParts& parts, Instance& instance, Event& event, language::HistComplaints& complaints)
      : parts_(parts), instance_(instance), event_(event), complaints_(complaints) {}

  Applied apply(language::TriggerCommand command) {
    auto parts = language::split_condition(command.definition);
    if (!parts) return refuse(std::move(parts).error());
    command.condition = std::move(parts->condition);
    const bool removes = command.removes;
    auto histogram = resolve_histogram(parts_.events, instance_, event_, parts->definition, removes, complaints_);
    if (!histogram) return refuse(std::move(histogram).error());
    EventTrigger made;
    made.command = std::move(command);
    made.histogram = *std::move(histogram);
    if (auto taken = take_filter(made); !taken) return taken;
    auto done = removes ? remove(made) : add_or_change(made);
    if (is_added_) return as_applied(std::move(done));
    parts_.lists.give_back(instance_, made);
    return as_applied(std::move(done));
  }

 private:
  Applied take_filter(EventTrigger& made) {
    auto filter = trigger_filter(made.command);
    if (!filter) return refuse(std::move(filter).error());
    made.filter = *std::move(filter);
    if (made.filter.empty()) return {};
    const auto program = parts_.filters.store(event_, made.filter);
    if (program) {
      made.program = *program;
      return {};
    }
    return tl::unexpected<RefusedTrigger>(
        {Error(program.error().code, "the filter is refused"), program.error(), made.filter});
  }

  std::vector<EventTrigger>& list() { return rules_of(event_, instance_).triggers; }

  // The trigger that a command is about; nullptr: there is none.
  EventTrigger* find(const EventTrigger& wanted) {
    const Histogram& histogram = *wanted.histogram;
    const bool is_named = find_named(parts_.events, histogram.attributes.name) != nullptr;
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
    if (is_used(parts_.events, *found->histogram)) return fail(EBUSY, "others use the histogram's variables");
    parts_.lists.remove(instance_, event_, static_cast<std::size_t>(found - list().data()));
    parts_.grace.settle();
    return {};
  }

  Result<void> add_or_change(EventTrigger& made) {
    Histogram& histogram = *made.histogram;
    const language::HistAttributes& attributes = histogram.attributes;
    if (attributes.only_changes()) {
      if (EventTrigger* const found = find_to_change(made)) return change(*found, attributes);
    }
    const MakeHidden make_hidden = [this](Event& event, const std::string& command) { return make_on(event, command); };
    LT_CHECK(resolve_actions(parts_.events, instance_, event_, histogram, make_hidden, complaints_));

    const Histogram* const named = find_named(parts_.events, attributes.name);
    if (named != nullptr && !is_same_histogram(histogram, *named)) {
      return complaints_.refuse(HistMistake::kNamedMismatch, "name=" + attributes.name);
    }
    if (find_to_change(made) != nullptr) return complaints_.refuse(HistMistake::kExists, {}, EEXIST);
    if (attributes.resume || attributes.clear) return complaints_.refuse(HistMistake::kNothingToClear, {}, ENOENT);
    if (histogram.uses_time) LT_CHECK(set_clock(attributes.clock));
    LT_TRY(const std::uint32_t of_event, parts_.lists.hist_switch_of(instance_, event_));
    LT_TRY(made.pause, parts_.cells.take_switch(attributes.pause));
    LT_CHECK(parts_.tables.take(instance_, histogram, named));
    LT_TRY(made.plan, parts_.tables.store_plan(instance_, histogram, made.pause, of_event));
    is_added_ = true;
    return parts_.lists.add(instance_, event_, made, TriggerLists::End::kBack);
  }

  // A name that nobody has yet is a new histogram's.
  EventTrigger* find_to_change(const EventTrigger& made) {
    const std::string& name = made.histogram->attributes.name;
    if (!name.empty() && find_named(parts_.events, name) == nullptr) return nullptr;
    return find(made);
  }

  Result<void> change(EventTrigger& found, const language::HistAttributes& attributes) {
    if (attributes.pause || attributes.resume) {
      parts_.cells.set_switch(found.pause, attributes.pause);
      return {};
    }
    LT_CHECK(parts_.tables.renew(*found.histogram));
    if (!found.histogram->attributes.name.empty()) resume_all(*found.histogram->table);
    return {};
  }

  // The kernel pauses histograms that share a table while it clears that.
  void resume_all(const HistogramTable& table) {
    for_each_histogram(parts_.events, [&](std::uint32_t, EventTrigger& trigger) {
      if (trigger.histogram->table.get() == &table) parts_.cells.set_switch(trigger.pause, false);
    });
  }

  Result<void> set_clock(const std::string& name) {
    const bool is_set =
        arch::trace_clock_named(name) != nullptr && (instance_.clock == nullptr || instance_.clock->select_clock(name));
    return is_set ? Result<void>() : complaints_.refuse(HistMistake::kClock, name);
  }

  Result<void> make_on(Event& event, const std::string& definition) {
    language::TriggerCommand command;
    command.kind = language::TriggerKind::kHist;
    command.definition = definition;
    const Events::Hold hold(parts_.events, event);
    auto applied = SetUp(parts_, instance_, event, complaints_).apply(std::move(command));
    if (!applied) return tl::unexpected<Error>(std::move(applied).error().error);
    return {};
  }

  const HistogramParts& parts_;
  Instance& instance_;
  Event& event_;
  language::HistComplaints& complaints_;
  bool is_added_ = false;
};

}  // namespace

Applied set_up_histogram(const HistogramParts& parts, Instance& instance, Event& event,
                         const language::TriggerCommand& command, language::HistComplaints& complaints) {
  return SetUp(parts, instance, event, complaints).apply(command);
}

}  // namespace landtrace::rules
