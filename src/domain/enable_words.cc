#include "domain/enable_words.hpp"

#include <algorithm>

namespace landtrace::domain {
namespace {

auto same_bit(EnableBit bit) {
  return [bit](const auto& word) { return word.bit.address == bit.address && word.bit.bit == bit.bit; };
}

}  // namespace

Result<EnableWords::Process*> EnableWords::process(std::uint32_t pid) {
  const auto found = processes_.find(pid);
  if (found != processes_.end()) {
    if (found->second.space->is_alive()) return &found->second;
    forget(found->second);
    processes_.erase(found);
  }
  LT_TRY(auto space, AddressSpace::open(pid));
  return &processes_.emplace(pid, Process{std::move(space), {}}).first->second;
}

void EnableWords::forget(Process& process) {
  const auto words = std::move(process.words);
  process.words.clear();
  for (const Word& word : words) events_.drop_reference(word.event);
}

Result<void> EnableWords::check_unused(std::uint32_t pid, EnableBit bit) {
  LT_TRY(Process* const owner, process(pid));
  if (std::any_of(owner->words.begin(), owner->words.end(), same_bit(bit))) {
    return fail(EADDRINUSE, "this bit of this enable word is registered already");
  }
  return {};
}

Result<void> EnableWords::add(std::uint32_t pid, EnableBit bit, Event& event) {
  LT_TRY(Process* const owner, process(pid));
  if (auto set = memory_.check_and_set(owner->space, bit, event.listeners.any()); !set) {
    return fail(ENOMEM, std::move(set).error().message);
  }
  owner->words.push_back({bit, event.slot});
  events_.add_reference(event);
  return {};
}

Result<void> EnableWords::remove(std::uint32_t pid, EnableBit bit) {
  LT_TRY(Process* const owner, process(pid));
  const auto found = std::find_if(owner->words.begin(), owner->words.end(), same_bit(bit));
  if (found == owner->words.end()) return fail(ENOENT, "this enable word is not registered");
  const std::uint32_t event = found->event;
  owner->words.erase(found);
  memory_.set_all({{owner->space, bit, false}});
  events_.drop_reference(event);
  return {};
}

Result<void> EnableWords::duplicate(std::uint32_t parent, std::uint32_t child) {
  const auto found = processes_.find(parent);
  if (found == processes_.end()) return {};
  const std::vector<Word> words = found->second.words;
  LT_TRY(Process* const copy, process(child));
  std::vector<ForeignMemory::Change> changes;
  for (const Word& word : words) {
    Event* const event = events_.at(word.event);
    const bool known = std::any_of(copy->words.begin(), copy->words.end(), same_bit(word.bit));
    if (event == nullptr || known) continue;
    copy->words.push_back(word);
    events_.add_reference(*event);
    changes.push_back({copy->space, word.bit, event->listeners.any()});
  }
  memory_.set_all(std::move(changes));
  return {};
}

void EnableWords::refresh(const std::vector<Event*>& events) {
  std::vector<bool> wanted(plan::kMaxEvents, false);
  for (const Event* const event : events) wanted[event->slot] = true;
  std::vector<ForeignMemory::Change> changes;
  for (const auto& [pid, process] : processes_) {
    for (const Word& word : process.words) {
      if (wanted[word.event]) changes.push_back({process.space, word.bit, events_.at(word.event)->listeners.any()});
    }
  }
  memory_.set_all(std::move(changes));
}

void EnableWords::sweep() {
  std::vector<std::uint32_t> gone;
  for (const auto& [pid, process] : processes_) {
    if (!process.space->is_alive()) gone.push_back(pid);
  }
  for (const std::uint32_t pid : gone) {
    Process process = std::move(processes_.at(pid));
    processes_.erase(pid);
    forget(process);
  }
}

void EnableWords::clear_all() {
  std::vector<ForeignMemory::Change> changes;
  for (const auto& [pid, process] : processes_) {
    for (const Word& word : process.words) changes.push_back({process.space, word.bit, false});
  }
  memory_.set_all(std::move(changes));
}

}  // namespace landtrace::domain
