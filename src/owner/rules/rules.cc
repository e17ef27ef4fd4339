#include "rules/rules.hpp"

#include <algorithm>

#include "language/probe/event_probe_command.hpp"
#include "rules/file_rules.hpp"
#include "rules/synthetic_events.hpp"

namespace landtrace::rules {

// Trigger lists let go of histograms, and histograms are in trigger lists: the one is given the other before it is
// there.
Rules::Rules(Domain& domain)
    : domain_(domain),
      functions_(domain.registrar().owner_uid()),
      filters_(domain.control(), domain.grace(), domain.plans(), functions_),
      lists_(domain.control(), domain.grace(), domain.cells(), domain.events(), domain.plans(), domain.listening(),
             histograms_),
      tables_(domain.control(), domain.users(), domain.grace(), domain.events(), domain.instances(), lists_),
      histograms_(domain.control(), domain.users(),
                  {domain.events(), domain.cells(), domain.grace(), filters_, lists_, tables_}),
      triggers_(domain.events(), domain.cells(), domain.grace(), domain.control(), domain.listening(), filters_, lists_,
                histograms_),
      event_probes_(domain.control(), domain.grace(), domain.events(), domain.instances(), domain.registrar(),
                    domain.listening(), filters_, lists_),
      event_programs_(domain.events(), domain.instances(), domain.listening(), lists_),
      probes_(domain.events(), domain.registrar(), functions_),
      selections_(domain.events(), domain.instances(), domain.plans(), domain.listening(), filters_, triggers_),
      long_reads_(domain) {
  domain_.set_rules(this);
}

Rules::~Rules() { domain_.set_rules(nullptr); }

// The instance wants nothing of the event any more: its filter and triggers go.
void Rules::drop(Instance& instance, Event& event) {
  if (find_rules(event, instance) == nullptr) return;
  const Events::Hold hold(domain_.events(), event);
  event_programs_.drop(instance, event);
  triggers_.remove_all(instance, event);
  filters_.clear(instance, event);
  if (const std::uint32_t cell = rules_of(event, instance).hist_switch; cell != 0) {
    domain_.grace().after_readers([&cells = domain_.cells(), cell] { cells.give_back(cell); },
                                  domain::Holders::of_own_memory());
  }
  event.files[instance.index].rules.reset();
}

void Rules::gone(Event& event) {
  for (Instance* const instance : domain_.instances().all()) drop(*instance, event);
  event.files.clear();
  event_probes_.let_go(event);
  probes_.let_go(event);
}

Result<void> Rules::listeners_changed(Event& event) {
  LT_CHECK(event_probes_.attach(event));
  return probes_.attach(event);
}

bool Rules::is_kept_by_recorders_alone(const Event& event) const {
  bool has_rules = false;
  for (const Instance* const instance : domain_.instances().all()) {
    if (event.listeners[instance->index] && !instance->is_recorder()) return false;
    has_rules = has_rules || (instance->is_recorder() && find_rules(event, *instance) != nullptr);
  }
  // A recorder's triggers may refer to it.
  return event.listeners.any() && (event.references == 0 || has_rules);
}

Result<void> Rules::remove(Event& event, std::uint32_t uid) {
  const bool is_theirs = uid == 0 || uid == event.uid;
  if (event.flavour() != event::Flavour::kSynthetic || !is_theirs || !is_kept_by_recorders_alone(event)) {
    return domain_.events().remove(event, uid);
  }
  for (Instance* const instance : domain_.instances().all()) {
    if (!instance->is_recorder()) continue;
    drop(*instance, event);
    LT_CHECK(domain_.listening().set(*instance, {&event}, false));
  }
  auto removed = domain_.events().remove(event, uid);
  if (!removed) std::ignore = select(event);  // something else refers to it: they go on
  return removed;
}

void Rules::stop(Instance& instance) {
  Selections::forget(instance);
  std::vector<Event*> events = domain_.events().all_and_print();
  // Event probes first: they have triggers at others.
  std::stable_partition(events.begin(), events.end(),
                        [](const Event* event) { return find_event_probe(*event) != nullptr; });
  std::vector<std::uint32_t> slots;
  for (const Event* const event : events) slots.push_back(event->slot);
  for (const std::uint32_t slot : slots) {  // one may go with another's trigger
    Event* const event = domain_.events().at(slot);
    if (event == nullptr) continue;
    const Events::Hold hold(domain_.events(), *event);
    drop(instance, *event);
    if (find_event_probe(*event) != nullptr) std::ignore = domain_.listening().set(instance, {event}, false);
  }
  // Not before: triggers of other events may have held one in soft mode.
  for (Event* const event : domain_.events().all_and_print()) event->files.erase(instance.index);
}

void Rules::program_came(std::uint32_t pid) {
  functions_.add(pid);
  probes_.look_again();
  for (Event* const event : domain_.events().all_and_print()) {
    if (event->files.empty()) continue;
    for (Instance* const instance : domain_.instances().all()) {
      filters_.refresh_functions(*instance, *event);
      triggers_.refresh_functions(*instance, *event);
    }
  }
}

void Rules::restore(const domain::SavedEvent& saved) {
  if (saved.flavour == event::Flavour::kSynthetic) {
    const std::string line = "s:" + saved.text;  // which the command is views of
    if (const auto command = language::split_dynamic_synthetic(line)) {
      std::ignore = define_synthetic(domain_.events(), domain_.registrar(), *command, saved.uid);
    }
  } else if (event::is_function_probe(saved.flavour)) {
    probes_.restore(saved.text, saved.uid);
  } else if (language::EventProbeCommand::is_one(saved.text)) {
    std::ignore = event_probes_.define(saved.text, saved.uid);
  }
}

}  // namespace landtrace::rules
