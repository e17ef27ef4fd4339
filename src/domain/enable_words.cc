#include "domain/enable_words.hpp"

#include <tuple>
#include <utility>

#include "base/fd.hpp"

namespace landtrace::domain {
namespace {

constexpr auto kWaitForChild = std::chrono::seconds(1);
constexpr const char* kForeign = "another user's process";

// Whether the process is the user's by its real id. A request may be late, and its pid another's by now.
bool is_run_by(std::uint32_t pid, std::uint32_t uid) {
  const auto status = read_file("/proc/" + std::to_string(pid) + "/status");
  return status && status->find("\nUid:\t" + std::to_string(uid) + "\t") != std::string::npos;
}

}  // namespace

// A daemon may open its files as root and go on as somebody else.
bool EnableWords::has_become(Process& process, Identity client) {
  if (process.who.uid != 0 || !is_run_by(process.space->pid, client.uid)) return false;
  process.who = client;
  return true;
}

Result<EnableWords::Process*> EnableWords::find_process(std::uint32_t pid, Identity client) {
  const auto found = processes_.find(pid);
  if (found == processes_.end()) return nullptr;
  Process& known = found->second;
  if (known.space->is_alive()) {
    if (known.who.uid != client.uid && !has_become(known, client)) return fail(EPERM, kForeign);
    return &known;
  }
  forget(known);
  processes_.erase(found);
  return nullptr;
}

Result<EnableWords::Process*> EnableWords::process(std::uint32_t pid, Identity client) {
  LT_TRY(Process * known, find_process(pid, client));
  if (known != nullptr) return known;
  LT_TRY(auto space, memory_.open(pid, client));
  known = &processes_.emplace(pid, Process{client, std::move(space), {}, 0, {}}).first->second;
  if (watcher_) watcher_(pid);
  return known;
}

Result<std::shared_ptr<AddressSpace>> EnableWords::space(std::uint32_t pid, Identity client) {
  LT_TRY(const Process* const known, find_process(pid, client));
  if (known != nullptr) return known->space;
  return memory_.open(pid, client);
}

void EnableWords::forget(Process& process) {
  const Words words = std::exchange(process.words, {});
  for (const auto& [bit, event] : words) events_.drop_reference(event);
}

Result<void> EnableWords::check_unused(std::uint32_t pid, Identity client, EnableBit bit) {
  LT_TRY(Process* const owner, process(pid, client));
  if (owner->words.contains(bit)) return fail(EADDRINUSE, "this bit of this enable word is registered already");
  return {};
}

Result<void> EnableWords::add(std::uint32_t pid, Identity client, EnableBit bit, Event& event) {
  LT_TRY(Process* const owner, process(pid, client));
  if (auto set = memory_.check_and_set(owner->space, bit, event.listeners.any()); !set) {
    return fail(ENOMEM, std::move(set).error().message);
  }
  owner->words.emplace(bit, event.slot);
  events_.add_reference(event);
  return {};
}

Result<void> EnableWords::remove(std::uint32_t pid, Identity client, EnableBit bit) {
  LT_TRY(Process* const owner, process(pid, client));
  const auto found = owner->words.find(bit);
  if (found == owner->words.end()) return fail(ENOENT, "this enable word is not registered");
  const std::uint32_t event = found->second;
  owner->words.erase(found);
  auto cleared = memory_.check_and_set(owner->space, bit, false);
  events_.drop_reference(event);
  if (!cleared) return fail(EFAULT, std::move(cleared).error().message);
  return {};
}

void EnableWords::remember(std::uint32_t pid, Identity client) { std::ignore = process(pid, client); }

Result<void> EnableWords::expect_child(std::uint32_t pid, Identity client) {
  if (!processes_.contains(pid)) return {};
  LT_TRY(Process* const parent, process(pid, client));
  ++parent->expected_children;
  return {};
}

Result<void> EnableWords::duplicate(std::uint32_t parent, std::uint32_t child, Identity client) {
  const auto found = processes_.find(parent);
  if (found == processes_.end()) return {};
  if (found->second.who.uid != client.uid) return fail(EPERM, kForeign);
  if (found->second.expected_children > 0) --found->second.expected_children;
  const Words words = found->second.words;
  LT_TRY(Process* const copy, process(child, client));
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
