#include "domain/triggers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "domain/filters.hpp"
#include "domain/probes.hpp"

namespace landtrace::domain {
namespace {

using trigger::Family;
using trigger::Kind;

plan::TriggerAction action_of(Kind kind) {
  switch (kind) {
    case Kind::kTraceOn:
      return plan::TriggerAction::kTraceOn;
    case Kind::kTraceOff:
      return plan::TriggerAction::kTraceOff;
    case Kind::kSnapshot:
      return plan::TriggerAction::kSnapshot;
    case Kind::kStackTrace:
      return plan::TriggerAction::kStackTrace;
    case Kind::kEnableEvent:
      return plan::TriggerAction::kEnableEvent;
    case Kind::kDisableEvent:
      break;
  }
  return plan::TriggerAction::kDisableEvent;
}

// Behind the event: a trace ends with the event that ended it, and a stack stands below its event.
bool is_late(Kind kind) { return kind == Kind::kTraceOff || kind == Kind::kStackTrace; }

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

  tl::expected<void, RefusedTrigger> add(const trigger::Command& command) {
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
      give_back(made);
      return refuse(Error(EEXIST, fmt::format("{} has a trigger of this kind already", event_.name)));
    }
    if (target != nullptr) made.target_slot = target->slot;
    auto added = set_up(std::move(made), target);
    if (!added) return refuse(std::move(added).error());
    return {};
  }

  void remove(const trigger::Command& command) {
    const Event* const target = target_of(command);
    const auto found = find(command, target);
    if (found != list().end()) remove(found);
  }

  void remove_all() {
    while (!list().empty()) remove(list().begin());
  }

  void refresh_functions() {
    std::vector<std::uint32_t> old;
    for (EventTrigger& trigger : list()) {
      if (!uses_functions(domain_, trigger.program)) continue;
      const auto program = store_program(domain_, event_, trigger.filter);
      if (program) old.push_back(std::exchange(trigger.program, *program));
    }
    if (old.empty() || !publish_list()) return;
    domain_.grace().after_readers([&domain = domain_, old] {
      for (const std::uint32_t program : old) domain.control().free(program);
    });
  }

  [[nodiscard]] Event* target_of(const trigger::Command& command) {
    return command.event.empty() ? nullptr : domain_.events().find(command.system, command.event);
  }

  Result<void> publish_list() {
    EventFile& file = event_.files[instance_.index];
    std::uint32_t next = 0;
    const std::vector<plan::Trigger> probes = triggers_of_probes(file);
    if (const std::size_t count = file.triggers.size() + probes.size(); count != 0) {
      std::vector<std::byte> bytes(sizeof(plan::TriggerList) + count * sizeof(plan::Trigger));
      const plan::TriggerList header{static_cast<std::uint32_t>(count),
                                     is_conditional(file.triggers) || !probes.empty()};
      std::memcpy(bytes.data(), &header, sizeof header);
      std::byte* at = bytes.data() + sizeof header;
      for (const EventTrigger& trigger : file.triggers) {
        const plan::Trigger shared{action_of(trigger.command.kind),
                                   is_late(trigger.command.kind),
                                   trigger.program,
                                   trigger.target,
                                   trigger.counter,
                                   0,
                                   static_cast<std::uint64_t>(trigger.limit)};
        std::memcpy(at, &shared, sizeof shared);
        at += sizeof shared;
      }
      if (!probes.empty()) std::memcpy(at, probes.data(), probes.size() * sizeof probes[0]);
      LT_TRY(next, domain_.control().store(bytes));
    }
    const std::uint32_t old = std::exchange(file.trigger_list, next);
    auto published = domain_.publish(event_);
    if (!published) file.trigger_list = old;
    const std::uint32_t gone = published ? old : next;
    if (gone != 0) domain_.grace().after_readers([&domain = domain_, gone] { domain.control().free(gone); });
    return published;
  }

 private:
  using List = std::vector<EventTrigger>;
  List& list() { return event_.files[instance_.index].triggers; }

  List::iterator find(const trigger::Command& command, const Event* target) {
    return std::find_if(list().begin(), list().end(), [&](const EventTrigger& trigger) {
      return family_of(trigger.command.kind) == family_of(command.kind) &&
             (target == nullptr || trigger.target_slot == target->slot);
    });
  }

  static Result<void> read_parts(EventTrigger& made) {
    LT_TRY(made.limit, count_of(made.command));
    LT_TRY(made.filter, filter_of(made.command));
    return {};
  }

  // With its program in the control segment; what it has is given back if it cannot be.
  Result<void> set_up(EventTrigger made, Event* target) {
    auto ready = take_what_it_needs(made, target);
    if (ready) {
      list().insert(list().begin(), made);
      ready = domain_.hold_soft(instance_, event_);
      if (ready) {
        ready = publish_list();
        if (ready) return {};
        domain_.release_soft(instance_, event_);
      }
      list().erase(list().begin());
    }
    give_back(made);
    return ready;
  }

  Result<void> take_what_it_needs(EventTrigger& made, Event* target) {
    if (made.limit != trigger::kUnlimited) {
      LT_TRY(made.counter, domain_.cells().take_counter());
    }
    switch (family_of(made.command.kind)) {
      case Family::kTracing:
        made.target = instance_.stop_switch;
        return {};
      case Family::kSnapshot:
        LT_CHECK(hold_snapshot());
        made.target = instance_.flip->counter;
        return {};
      case Family::kEnabling:
        LT_CHECK(domain_.hold_soft(instance_, *target));
        made.target = target->files[instance_.index].soft_switch;
        return {};
      case Family::kStackTrace:
        break;
    }
    return {};
  }

  Result<void> hold_snapshot() {
    if (instance_.snapshot_triggers == 0) {
      if (!instance_.arm_snapshot) return fail(EINVAL, "this instance has no snapshot");
      LT_CHECK(instance_.arm_snapshot(true));
    }
    ++instance_.snapshot_triggers;
    return {};
  }

  void give_back(const EventTrigger& gone) {
    if (gone.target != 0 && family_of(gone.command.kind) == Family::kEnabling) {
      if (Event* const target = domain_.events().at(gone.target_slot)) domain_.release_soft(instance_, *target);
    }
    if (gone.target != 0 && family_of(gone.command.kind) == Family::kSnapshot && --instance_.snapshot_triggers == 0) {
      std::ignore = instance_.arm_snapshot(false);
    }
    domain_.grace().after_readers([&domain = domain_, counter = gone.counter, program = gone.program] {
      if (counter != 0) domain.cells().give_back(counter);
      if (program != 0) domain.control().free(program);
    });
  }

  void remove(List::iterator found) {
    const EventTrigger gone = std::move(*found);
    list().erase(found);
    // With no room for a shorter list producers go on with the old one, and what it needs stays.
    if (!publish_list()) return;
    give_back(gone);
    domain_.release_soft(instance_, event_);
  }

  [[nodiscard]] std::vector<plan::Trigger> triggers_of_probes(const EventFile& file) const {
    std::vector<plan::Trigger> triggers;
    for (const std::uint32_t slot : file.probes) {
      const Event* const probe = domain_.events().at(slot);
      if (probe == nullptr || !probe->probe) continue;
      plan::Trigger trigger{};
      trigger.action = plan::TriggerAction::kProbe;
      trigger.filter = probe->probe->program;
      trigger.target = probe->probe->plan;
      triggers.push_back(trigger);
    }
    return triggers;
  }

  Domain& domain_;
  Instance& instance_;
  Event& event_;
};

}  // namespace

tl::expected<void, RefusedTrigger> apply_trigger(Domain& domain, Instance& instance, Event& event,
                                                 std::string_view text) {
  auto command = trigger::parse(text);
  if (!command) return refuse(std::move(command).error());
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

Result<void> publish_triggers(Domain& domain, Instance& instance, Event& event) {
  return Triggers(domain, instance, event).publish_list();
}

void refresh_trigger_functions(Domain& domain, Instance& instance, Event& event) {
  const EventFile* const file = event.file(instance.index);
  if (file != nullptr && !file->triggers.empty()) Triggers(domain, instance, event).refresh_functions();
}

std::string triggers_text(const Domain& domain, const Instance& instance, const Event& event) {
  const EventFile* const file = event.file(instance.index);
  if (file == nullptr || file->triggers.empty()) return trigger::no_trigger_text();
  std::string text;
  for (const EventTrigger& trigger : file->triggers) {
    text += trigger::line(trigger.command, left_of(domain, trigger), trigger.filter);
  }
  return text;
}

}  // namespace landtrace::domain
