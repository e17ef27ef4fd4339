#include "domain/enable_words.hpp"

#include <utility>

namespace landtrace::domain {
namespace {
constexpr auto kWaitForChild = std::chrono::seconds(1);
}

Result<EnableWords::Process*> EnableWords::process(std::uint32_t pid) {
  const auto found = processes_.find(pid);
  if (found != processes_.end()) {
    if (found->second.space->is_alive()) return &found->second;
    forget(found->second);
    processes_.erase(found);
  }
  LT_TRY(auto space, AddressSpace::open(pid));
  return &processes_.emplace(pid, Process{std::move(space), {}, 0, {}}).first->second;
}

void EnableWords::forget(Process& process) {
  const Words words = std::exchange(process.words, {});
  for (const auto& [bit, event] : words) events_.drop_reference(event);
}

Result<void> EnableWords::check_unused(std::uint32_t pid, EnableBit bit) {
  LT_TRY(Process* const owner, process(pid));
  if (owner->words.contains(bit)) return fail(EADDRINUSE, "this bit of this enable word is registered already");
  return {};
}

Result<void> EnableWords::add(std::uint32_t pid, EnableBit bit, Event& event) {
  LT_TRY(Process* const owner, process(pid));
  if (auto set = memory_.check_and_set(owner->space, bit, event.listeners.any()); !set) {
    return fail(ENOMEM, std::move(set).error().message);
  }
  owner->words.emplace(bit, event.slot);
  events_.add_reference(event);
  return {};
}

Result<void> EnableWords::remove(std::uint32_t pid, EnableBit bit) {
  LT_TRY(Process* const owner, process(pid));
  const auto found = owner->words.find(bit);
  if (found == owner->words.end()) return fail(ENOENT, "this enable word is not registered");
  const std::uint32_t event = found->second;
  owner->words.erase(found);
  memory_.set_all({{owner->space, bit, false}});
  events_.drop_reference(event);
  return {};
}

void EnableWords::expect_child(std::uint32_t pid) {
  const auto found = processes_.find(pid);
  if (found != processes_.end()) ++found->second.expected_children;
}

Result<void> EnableWords::duplicate(std::uint32_t parent, std::uint32_t child) {
  const auto found = processes_.find(parent);
  if (found == processes_.end()) return {};
  if (found->second.expected_children > 0) --found->second.expected_children;
  const Words words = found->second.words;
  LT_TRY(Process* const copy, process(child));
  std::vector<ForeignMemory::Change> changes;
  for (const auto& [bit, slot] : words) {
    Event* const event = events_.at(slot);
    if (event == nullptr || !copy->words.emplace(bit, slot).second) continue;
    events_.add_reference(*event);
    changes.push_back({copy->space, bit, event->listeners.any()});
  }
  memory_.set_all(std::move(changes));
  return {};
}

void EnableWords::refresh(const std::vector<Event*>& events) {
  std::vector<bool> wanted(plan::kMaxEvents, false);
  for (const Event* const event : events) wanted[event->slot] = true;
  std::vector<ForeignMemory::Change> changes;
  for (const auto& [pid, process] : processes_) {
    for (const auto& [bit, slot] : process.words) {
      if (wanted[slot]) changes.push_back({process.space, bit, events_.at(slot)->listeners.any()});
    }
  }
  memory_.set_all(std::move(changes));
}

bool EnableWords::sweep() {
  const auto now = std::chrono::steady_clock::now();
  bool waiting = false;
  std::vector<std::uint32_t> gone;
  for (auto& [pid, process] : processes_) {
    if (process.space->is_alive()) continue;
    if (process.gone == decltype(now){}) process.gone = now;
    const bool waits = process.expected_children > 0 && now - process.gone < kWaitForChild;
    waiting |= waits;
    if (!waits) gone.push_back(pid);
  }
  for (const std::uint32_t pid : gone) {
    Process process = std::move(processes_.at(pid));
    processes_.erase(pid);
    forget(process);
  }
  return waiting;
}

void EnableWords::clear_all() {
  std::vector<ForeignMemory::Change> changes;
  for (const auto& [pid, process] : processes_) {
    for (const auto& [bit, slot] : process.words) changes.push_back({process.space, bit, false});
  }
  memory_.set_all(std::move(changes));
}

}  // namespace landtrace::domain
