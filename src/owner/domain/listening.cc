#include "domain/listening.hpp"

#include <utility>

namespace landtrace::domain {

Result<void> Listening::set(Instance& instance, const std::vector<Event*>& events, bool on) {
  std::vector<Event*> changed;
  Result<void> result;
  for (Event* const event : events) {
    // In soft mode the plan is there already and stays: the switch alone says whether it records.
    if (const EventFile* const file = event->file(instance.index); file != nullptr && file->in_soft_mode()) {
      cells_.set_switch(file->soft_switch, !on);
      continue;
    }
    event->selected_by[instance.index] = false;
    if (event->listeners[instance.index] == on) continue;
    event->listeners[instance.index] = on;
    if (auto published = plans_.publish(*event); !published) {
      event->listeners[instance.index] = !on;
      result = std::move(published);
      break;
    }
    changed.push_back(event);
  }
  // Plans come before enable words: a program that finds its word set finds what to do, too.
  show(changed);
  for (Event* const event : changed) {
    auto told = rules_->listeners_changed(*event);
    if (told) continue;
    if (on) take_back(instance, *event);
    if (result) result = std::move(told);
  }
  if (!on) {  // listening may have been all that kept them
    for (Event* const event : changed) {
      events_.add_reference(*event);
      events_.drop_reference(event->slot);
    }
  }
  return result;
}

// The rules cannot have the event listened to.
void Listening::take_back(Instance& instance, Event& event) {
  event.listeners[instance.index] = false;
  // With no room for a plan without it, it is recorded all the same.
  std::ignore = plans_.publish(event);
  show({&event});
  std::ignore = rules_->listeners_changed(event);
}

void Listening::show(const std::vector<Event*>& events) {
  if (batches_ == 0) enable_words_.refresh(events);
  for (const Event* const event : events) {
    if (batches_ > 0) pending_.insert(event->slot);
    pages_.set(Page::kBits, event->status_bit, event->listeners.any());
    pages_.set(Page::kBytes, event->status_byte, event->listeners.any());
  }
}

// An event that has gone meanwhile had no words.
void Listening::show_pending() {
  std::vector<Event*> events;
  for (const std::uint32_t slot : std::exchange(pending_, {})) {
    if (Event* const event = events_.at(slot)) events.push_back(event);
  }
  if (!events.empty()) enable_words_.refresh(events);
}

Result<void> Listening::hold_soft(Instance& instance, Event& event) {
  EventFile& file = event.files[instance.index];
  if (file.in_soft_mode()) {
    ++file.soft_references;
    return {};
  }
  const bool was_on = event.listeners[instance.index] || event.slot == plan::kPrintSlot;
  LT_TRY(file.soft_switch, cells_.take_switch(!was_on));
  file.soft_references = 1;
  event.listeners[instance.index] = true;
  if (auto published = plans_.publish(event); !published) {
    event.listeners[instance.index] = was_on;
    file.soft_references = 0;
    cells_.give_back(std::exchange(file.soft_switch, 0));
    return published;
  }
  show({&event});
  auto told = rules_->listeners_changed(event);
  if (!told) release_soft(instance, event);
  return told;
}

void Listening::release_soft(Instance& instance, Event& event) {
  EventFile& file = event.files[instance.index];
  if (--file.soft_references > 0) return;
  const std::uint32_t cell = std::exchange(file.soft_switch, 0);
  const bool is_off = cells_.is_thrown(cell) || event.slot == plan::kPrintSlot;  // which needs no plan to be recorded
  const auto published = is_off ? set(instance, {&event}, false) : plans_.publish(event);
  // With no room for a plan without it the old one goes on, and keeps it.
  if (published) grace_.after_readers([this, cell] { cells_.give_back(cell); }, Holders::of_own_memory());
}

bool Listening::is_recorded(const Instance& instance, const Event& event) const {
  if (!event.listeners[instance.index]) return false;
  const EventFile* const file = event.file(instance.index);
  return file == nullptr || !file->in_soft_mode() || !cells_.is_thrown(file->soft_switch);
}

void Listening::stop(Instance& instance) {
  rules_->stop(instance);
  std::ignore = set(instance, events_.all_and_print(), false);
}

void quiesce(Instance& instance, Listening& listening, Grace& grace) {
  listening.stop(instance);
  grace.settle(kPatience);
}

void destroy_instance(std::uint32_t index, Listening& listening, Instances& instances) {
  Instance* const instance = instances.at(index);
  if (instance == nullptr || index == 0) return;
  listening.stop(*instance);
  instances.destroy(index);
}

}  // namespace landtrace::domain
