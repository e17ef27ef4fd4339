// Who listens to what, and with that what an event does.
#include <algorithm>

#include "domain/domain.hpp"
#include "rules/filters.hpp"
#include "rules/probes.hpp"
#include "rules/triggers.hpp"

namespace landtrace::domain {
namespace {

using plan::PlanStep;
using plan::StepKind;

std::uint8_t index_of(const Instance& instance) { return static_cast<std::uint8_t>(instance.index); }

PlanStep step(StepKind kind, const Instance& instance, std::uint32_t cell, std::uint64_t offset) {
  return {kind, 0, index_of(instance), cell, {offset}, 0, instance.place.geometry};
}

PlanStep record_into(const RingPlace& place, const Instance& instance) {
  return {StepKind::kRecord, 0, index_of(instance), instance.stop_switch, {place.rings}, place.consumed,
          place.geometry};
}

void add_records(std::vector<PlanStep>& steps, const Instance& instance) {
  if (!instance.flip) {
    steps.push_back(record_into(instance.place, instance));
    return;
  }
  steps.push_back(step(StepKind::kFlip, instance, instance.flip->counter, 0));
  steps.back().skip = 2;
  for (const RingPlace& place : instance.flip->places) steps.push_back(record_into(place, instance));
}

// What the event does in one instance.
void add_steps(std::vector<PlanStep>& steps, const Instance& instance, const EventFile* file) {
  const std::size_t first = steps.size();
  if (file != nullptr && file->trigger_list != 0) {
    steps.push_back(step(StepKind::kTriggers, instance, 0, file->trigger_list));
  }
  if (file != nullptr && file->in_soft_mode()) steps.push_back(step(StepKind::kSoft, instance, file->soft_switch, 0));
  if (instance.threads.published != 0) {
    steps.push_back(step(StepKind::kThreads, instance, 0, instance.threads.published));
  }
  if (file != nullptr && file->filter.program != 0) {
    steps.push_back(step(StepKind::kFilter, instance, 0, file->filter.program));
  }
  const std::size_t gates_end = steps.size();
  add_records(steps, instance);
  // Gates skip to the end of what is this instance's, and so do triggers when they have run it.
  for (std::size_t i = first; i < gates_end; ++i) steps[i].skip = static_cast<std::uint8_t>(steps.size() - 1 - i);
}

}  // namespace

Result<void> Domain::publish(Event& event) {
  std::vector<PlanStep> steps;
  for (const Instance* const instance : instances_.all()) {
    if (event.listeners[instance->index]) add_steps(steps, *instance, event.file(instance->index));
  }
  return events_.publish_plan(event, steps);
}

PlanStep Domain::record_step(const Instance& instance) const {
  if (!instance.flip) return record_into(instance.place, instance);
  return record_into(instance.flip->places[cells_.count_of(instance.flip->counter) & 1], instance);
}

bool Domain::is_recorded(const Instance& instance, const Event& event) const {
  if (!event.listeners[instance.index]) return false;
  const EventFile* const file = event.file(instance.index);
  return file == nullptr || !file->in_soft_mode() || !cells_.is_thrown(file->soft_switch);
}

Result<void> Domain::listen(Instance& instance, const std::vector<Event*>& events, bool on) {
  std::vector<Event*> changed;
  Result<void> result;
  for (Event* const event : events) {
    if (const EventFile* const file = event->file(instance.index); file != nullptr && file->in_soft_mode()) {
      cells_.set_switch(file->soft_switch, !on);
      continue;
    }
    if (event->listeners[instance.index] == on) continue;
    event->listeners[instance.index] = on;
    if (auto published = publish(*event); !published) {
      event->listeners[instance.index] = !on;
      result = std::move(published);
      break;
    }
    changed.push_back(event);
  }
  show_listeners(changed);
  for (Event* const event : changed) {
    if (auto attached = attach_probe(*this, *event); !attached && result) result = std::move(attached);
  }
  if (!on) {  // listening may have been all that kept them
    for (Event* const event : changed) {
      events_.add_reference(*event);
      events_.drop_reference(event->slot);
    }
  }
  return result;
}

// The instance wants nothing of the event any more: its filter and triggers go.
void Domain::drop_event_file(Instance& instance, Event& event) {
  if (event.file(instance.index) == nullptr) return;
  remove_all_triggers(*this, instance, event);
  clear_filter(*this, instance, event);
  if (const std::uint32_t cell = event.files[instance.index].hist_switch; cell != 0) {
    grace_.after_readers([this, cell] { cells_.give_back(cell); });
  }
  event.files.erase(instance.index);
}

void Domain::drop_event_files(Instance& instance) {
  std::vector<Event*> events = events_.all();
  // Probes first: they have triggers at others.
  std::stable_partition(events.begin(), events.end(), [](const Event* event) { return event->probe != nullptr; });
  std::vector<std::uint32_t> slots;
  for (const Event* const event : events) slots.push_back(event->slot);
  for (const std::uint32_t slot : slots) {  // one may go with another's trigger
    Event* const event = events_.at(slot);
    if (event == nullptr) continue;
    const Events::Hold hold(events_, *event);
    drop_event_file(instance, *event);
    if (event->probe) std::ignore = listen(instance, {event}, false);
  }
}

void Domain::program_came(std::uint32_t pid) {
  functions_.add(pid);
  refresh_functions(*this);
}

Result<void> Domain::hold_soft(Instance& instance, Event& event) {
  EventFile& file = event.files[instance.index];
  if (!file.in_soft_mode()) {
    const bool was_on = event.listeners[instance.index];
    LT_TRY(file.soft_switch, cells_.take_switch(!was_on));
    file.soft_references = 1;
    event.listeners[instance.index] = true;
    if (auto published = publish(event); !published) {
      event.listeners[instance.index] = was_on;
      file.soft_references = 0;
      cells_.give_back(std::exchange(file.soft_switch, 0));
      return published;
    }
    show_listeners({&event});
    return attach_probe(*this, event);
  }
  ++file.soft_references;
  return {};
}

void Domain::release_soft(Instance& instance, Event& event) {
  EventFile& file = event.files[instance.index];
  if (--file.soft_references > 0) return;
  const std::uint32_t cell = std::exchange(file.soft_switch, 0);
  const auto published = cells_.is_thrown(cell) ? listen(instance, {&event}, false) : publish(event);
  // With no room for a plan without it the old one goes on, and keeps it.
  if (published) grace_.after_readers([this, cell] { cells_.give_back(cell); });
}

}  // namespace landtrace::domain
