#include "rules/triggers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rules/filters.hpp"
#include "rules/histograms/set_up.hpp"
#include "rules/trigger_list.hpp"

namespace landtrace::rules {
namespace {

using language::TriggerFamily;
using language::TriggerKind;

tl::unexpected<RefusedTrigger> refuse(Error error) {
  return tl::unexpected<RefusedTrigger>({std::move(error), {}, {}});
}

std::int64_t left_of(const Domain& domain, const EventTrigger& trigger) {
  if (trigger.counter == 0) return trigger.limit;
  const auto limit = static_cast<std::uint64_t>(trigger.limit);
  return static_cast<std::int64_t>(limit - std::min(limit, domain.cells().count_of(trigger.counter)));
}

// The triggers of one event in one instance.
class Triggers {
 public:
  Triggers(Domain& domain, Instance& instance, Event& event) : domain_(domain), instance_(instance), event_(event) {}

  tl::expected<void, RefusedTrigger> add(const language::TriggerCommand& command) {
    EventTrigger made;
    made.command = command;
    if (auto read = read_parts(made); !read) return refuse(std::move(read).error());
    if (!made.filter.empty()) {
      const auto program = store_program(domain_, event_, made.filter);
      if (!program) {
        return tl::unexpected<RefusedTrigger>(
            {Error(program.error().code, "the filter is refused"), program.error(), made.filter});
      }
      made.program = *program;
    }
    Event* const target = target_of(command);
    if (find(command, target) != list().end()) {
      give_back(domain_, instance_, made);
      return refuse(Error(EEXIST, fmt::format("{} has a trigger of this kind already", event_.name)));
    }
    if (target != nullptr) made.target_slot = target->slot;
    auto added = set_up(std::move(made), target);
    if (!added) return refuse(std::move(added).error());
    return {};
  }

  void remove(const language::TriggerCommand& command) {
    const Event* const target = target_of(command);
    const auto found = find(command, target);
    if (found != list().end()) remove_trigger(domain_, instance_, event_, index_of(found));
  }

  void remove_all() {
    while (!list().empty()) remove_trigger(domain_, instance_, event_, 0);
  }

  void remove_all(TriggerFamily family) {
    for (std::size_t i = list().size(); i-- > 0;) {
      if (i >= list().size()) continue;  // a histogram takes with it what it has made
      if (family_of(list()[i].command.kind) == family) remove_trigger(domain_, instance_, event_, i);
    }
  }

  void refresh_functions() {
    std::vector<std::uint32_t> old;
    for (EventTrigger& trigger : list()) {
      if (!uses_functions(domain_, trigger.program)) continue;
      const auto program = store_program(domain_, event_, trigger.filter);
      if (program) old.push_back(std::exchange(trigger.program, *program));
    }
    if (old.empty() || !publish_triggers(domain_, instance_, event_)) return;
    domain_.grace().after_readers([&domain = domain_, old] {
      for (const std::uint32_t program : old) domain.control().free(program);
    });
  }

  [[nodiscard]] Event* target_of(const language::TriggerCommand& command) {
    return command.event.empty() ? nullptr : domain_.events().find(command.system, command.event);
  }

 private:
  using List = std::vector<EventTrigger>;
  List& list() { return event_.files[instance_.index].triggers; }
  std::size_t index_of(List::iterator found) { return static_cast<std::size_t>(found - list().begin()); }

  List::iterator find(const language::TriggerCommand& command, const Event* target) {
    return std::find_if(list().begin(), list().end(), [&](const EventTrigger& trigger) {
      return family_of(trigger.command.kind) == family_of(command.kind) &&
             (target == nullptr || trigger.target_slot == target->slot);
    });
  }

  static Result<void> read_parts(EventTrigger& made) {
    LT_TRY(made.limit, trigger_count(made.command));
    LT_TRY(made.filter, trigger_filter(made.command));
    return {};
  }

  // With its program in the control segment; what it has is given back if it cannot be.
  Result<void> set_up(EventTrigger made, Event* target) {
    auto ready = take_what_it_needs(made, target);
    if (ready) return add_trigger(domain_, instance_, event_, std::move(made), ListEnd::kFront);
    give_back(domain_, instance_, made);
    return ready;
  }

  Result<void> take_what_it_needs(EventTrigger& made, Event* target) {
    if (made.limit != language::kUnlimited) {
      LT_TRY(made.counter, domain_.cells().take_counter());
    }
    switch (family_of(made.command.kind)) {
      case TriggerFamily::kTracing:
        made.target = instance_.stop_switch;
        return {};
      case TriggerFamily::kSnapshot:
        LT_CHECK(hold_snapshot(instance_));
        made.target = instance_.flip->counter;
        return {};
      case TriggerFamily::kEnabling:
        LT_CHECK(domain_.hold_soft(instance_, *target));
        made.target = target->files[instance_.index].soft_switch;
        return {};
      case TriggerFamily::kHistEnabling: {
        LT_TRY(const std::uint32_t cell, hist_switch_of(domain_, instance_, *target));
        LT_CHECK(domain_.hold_soft(instance_, *target));
        made.target = cell;
        return {};
      }
      case TriggerFamily::kStackTrace:
      case TriggerFamily::kHist:
        break;
    }
    return {};
  }

  Domain& domain_;
  Instance& instance_;
  Event& event_;
};

}  // namespace

tl::expected<void, RefusedTrigger> apply_trigger(Domain& domain, Instance& instance, Event& event,
                                                 std::string_view text, language::HistComplaints* complaints) {
  auto command = language::parse_trigger(text);
  if (!command) return refuse(std::move(command).error());
  if (command->kind == TriggerKind::kHist) {
    language::HistComplaints unheard;
    if (complaints == nullptr) complaints = &unheard;
    complaints->begin("hist:" + command->definition);
    const Events::Hold hold(domain.events(), event);
    return apply_histogram(domain, instance, event, *command, *complaints);
  }
  Triggers triggers(domain, instance, event);
  if (!command->event.empty() && triggers.target_of(*command) == nullptr) {
    return refuse(Error(EINVAL, fmt::format("there is no event {}:{}", command->system, command->event)));
  }
  const Events::Hold hold(domain.events(), event);
  if (!command->removes) return triggers.add(*command);
  triggers.remove(*command);
  domain.settle();
  return {};
}

void remove_all_triggers(Domain& domain, Instance& instance, Event& event) {
  const EventFile* const file = event.file(instance.index);
  if (file == nullptr || file->triggers.empty()) return;
  const Events::Hold hold(domain.events(), event);
  Triggers(domain, instance, event).remove_all();
}

void truncate_triggers(Domain& domain, Instance& instance, Event& event) {
  const EventFile* const file = event.file(instance.index);
  if (file == nullptr || file->triggers.empty()) return;
  const Events::Hold hold(domain.events(), event);
  Triggers triggers(domain, instance, event);
  if (!are_variables_used(domain, instance, event)) triggers.remove_all(TriggerFamily::kHist);
  triggers.remove_all(TriggerFamily::kHistEnabling);
  domain.settle();
}

void refresh_trigger_functions(Domain& domain, Instance& instance, Event& event) {
  const EventFile* const file = event.file(instance.index);
  if (file != nullptr && !file->triggers.empty()) Triggers(domain, instance, event).refresh_functions();
}

std::string triggers_text(const Domain& domain, const Instance& instance, const Event& event) {
  const EventFile* const file = event.file(instance.index);
  if (file == nullptr || file->triggers.empty()) return language::no_trigger_text();
  std::string text;
  for (const EventTrigger& trigger : file->triggers) {
    text += trigger.histogram ? histogram_line(domain, *file, trigger)
                              : language::trigger_line(trigger.command, left_of(domain, trigger), trigger.filter);
  }
  return text;
}

}  // namespace landtrace::rules
