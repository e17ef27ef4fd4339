#include "domain/enable_words.hpp"

#include <algorithm>
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
  auto found = processes_.find(pid);
  if (found == processes_.end()) found = processes_.find(sharer_of(pid));
  if (found == processes_.end()) return nullptr;
  Process& known = found->second;
  if (known.space->is_alive()) {
    if (known.who.uid != client.uid && !has_become(known, client)) return fail(EPERM, kForeign);
    return &known;
  }
  const std::uint32_t gone = found->first;
  if (known.family) catch_up();
  erase(gone);
  return nullptr;
}

Result<EnableWords::Process*> EnableWords::process(std::uint32_t pid, Identity client) {
  LT_TRY(Process * known, find_process(pid, client));
  if (known != nullptr) return known;
  LT_TRY(auto space, memory_.open(pid, client));
  return remember(std::move(space), client);
}

EnableWords::Process* EnableWords::remember(std::shared_ptr<programs::AddressSpace> space, Identity client) {
  const std::uint32_t pid = space->pid;
  Process* const known = &processes_.emplace(pid, Process{client, std::move(space), {}, 0, {}, {}}).first->second;
  if (watcher_) watcher_(pid);
  return known;
}

Result<std::shared_ptr<programs::AddressSpace>> EnableWords::known_space(std::uint32_t pid, Identity client) {
  LT_TRY(const Process* const known, find_process(pid, client));
  return known == nullptr ? nullptr : known->space;
}

Result<void> EnableWords::know(const std::shared_ptr<programs::AddressSpace>& space, Identity client) {
  LT_TRY(const Process* const known, find_process(space->pid, client));
  if (known == nullptr && space->is_alive()) remember(space, client);
  return {};
}

void EnableWords::set_watcher(std::function<void(std::uint32_t pid)> watcher) {
  watcher_ = std::move(watcher);
  if (!watcher_) return;
  for (const auto& [pid, process] : processes_) watcher_(pid);
}

void EnableWords::erase(std::uint32_t pid) {
  auto node = processes_.extract(pid);
  if (node.empty()) return;
  if (node.mapped().family && --followed_ == 0) fork_events_.reset();
  if (journal_ != nullptr && !node.mapped().words.empty()) journal_->process_gone(pid);
  for (const auto& [bit, word] : node.mapped().words) events_.drop_reference(word.event);
}

Result<void> EnableWords::check_unused(std::uint32_t pid, Identity client, EnableBit bit, std::uint64_t claim) {
  catch_up(pid);
  LT_TRY(Process* const owner, process(pid, client));
  const auto found = owner->words.find(bit);
  if (found == owner->words.end() || found->second.is_left || (claim != 0 && found->second.claim == claim)) return {};
  return fail(EADDRINUSE, "this bit of this enable word is registered already");
}

void EnableWords::insert(Process& process, EnableBit bit, Word word, Event& event) {
  if (!process.words.emplace(bit, word).second) return;
  events_.add_reference(event);
  if (journal_ == nullptr || process.space->identity == 0) return;
  const std::uint32_t pid = process.space->pid;
  if (process.words.size() == 1) {
    journal_->process_known({process_id(pid), process.who, process.space->identity, {}});
  }
  journal_->word_added(pid, {bit, word.event, word.claim, word.since_ticks});
}

Result<void> EnableWords::add(std::uint32_t pid, Identity client, EnableBit bit, Event& event, std::uint64_t claim) {
  LT_TRY(Process* const owner, process(pid, client));
  if (auto set = memory_.check_and_set(owner->space, bit, event.listeners.any()); !set) {
    return fail(ENOMEM, std::move(set).error().message);
  }
  if (const auto left = owner->words.find(bit); left != owner->words.end() && left->second.is_left) {
    forget(*owner, left);
  }
  insert(*owner, bit, {event.slot, programs::now_ticks(), claim}, event);
  return {};
}

void EnableWords::forget(Process& process, Words::iterator word) {
  const std::uint32_t event = word->second.event;
  if (journal_ != nullptr) journal_->word_removed(process.space->pid, word->first);
  process.words.erase(word);
  events_.drop_reference(event);
}

Result<void> EnableWords::remove(std::uint32_t pid, Identity client, EnableBit bit) {
  catch_up(pid);
  LT_TRY(Process* const owner, process(pid, client));
  const auto found = owner->words.find(bit);
  if (found == owner->words.end()) return fail(ENOENT, "this enable word is not registered");
  const std::uint32_t event = found->second.event;
  owner->words.erase(found);
  if (journal_ != nullptr) journal_->word_removed(pid, bit);
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
  copy_words(words, *copy, kAnyTime);
  return {};
}

void EnableWords::copy_words(const Words& from, Process& to, std::uint64_t ticks) {
  std::vector<programs::ForeignMemory::Change> changes;
  for (const auto& [bit, word] : from) {
    Event* const event = events_.at(word.event);
    if (event == nullptr || word.since_ticks > ticks || to.words.contains(bit)) continue;
    insert(to, bit, word, *event);
    changes.push_back({to.space, bit, event->listeners.any()});
  }
  memory_.set_all(std::move(changes));
}

Result<void> EnableWords::restore(const SavedProcess& saved, const std::vector<Event*>& events) {
  if (process_id(saved.id.pid) != saved.id) return fail(ESRCH, "the process is gone");
  LT_TRY(Process* const known, process(saved.id.pid, saved.who));
  // Between the look at the process and the opening of its memory it may have ended: so by the number once more.
  if (known->space->identity != saved.space || process_id(saved.id.pid) != saved.id) {
    return fail(ESRCH, "the process has become another program");
  }
  std::vector<programs::ForeignMemory::KnownWord> words;
  std::unordered_map<std::uint64_t, std::uint64_t> registered;  // bits by address
  for (const SavedWord& word : saved.words) registered[word.bit.address] |= 1ull << word.bit.bit;
  for (std::size_t i = 0; i < saved.words.size(); ++i) {
    const bool on = events[i] != nullptr && events[i]->listeners.any();
    const EnableBit bit = saved.words[i].bit;
    words.push_back({bit, saved.words[i].claim, on, registered[bit.address]});
  }
  const std::vector<bool> taken = memory_.take_over(known->space, words);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!taken[i] || events[i] == nullptr) continue;
    insert(*known, words[i].bit, {events[i]->slot, saved.words[i].since, words[i].claim, words[i].claim == 0},
           *events[i]);
  }
  // Words without a claim came through a mount: nobody announces the children of their process.
  const bool any_unclaimed = std::any_of(words.begin(), words.end(), [](const auto& word) { return word.claim == 0; });
  return any_unclaimed ? follow_forks(saved.id.pid, saved.who) : Result<void>();
}

std::uint64_t EnableWords::program_of(std::uint32_t pid, Identity client) {
  const auto space = memory_.open(pid, client);
  return space ? (*space)->identity : 0;
}

std::vector<std::uint32_t> EnableWords::processes() const {
  std::vector<std::uint32_t> pids;
  for (const auto& [pid, process] : processes_) pids.push_back(pid);
  return pids;
}

bool EnableWords::has_words() const {
  return std::any_of(processes_.begin(), processes_.end(),
                     [](const auto& entry) { return !entry.second.words.empty(); });
}

void EnableWords::refresh(const std::vector<Event*>& events) {
  std::vector<bool> wanted(plan::kMaxEvents, false);
  for (const Event* const event : events) wanted[event->slot] = true;
  std::vector<programs::ForeignMemory::Change> changes;
  for (const auto& [pid, process] : processes_) {
    for (const auto& [bit, word] : process.words) {
      if (wanted[word.event]) changes.push_back({process.space, bit, events_.at(word.event)->listeners.any()});
    }
  }
  memory_.set_all(std::move(changes));
  catch_up();  // who was forked before its parent's word was written has the old one, and gets the new one now
}

bool EnableWords::sweep() {
  const auto now = std::chrono::steady_clock::now();
  bool waiting = false;
  bool had_followed = false;
  std::vector<std::uint32_t> gone;
  for (auto& [pid, process] : processes_) {
    if (process.space->is_alive()) continue;
    if (process.gone == decltype(now){}) process.gone = now;
    const bool waits = process.expected_children > 0 && now - process.gone < kWaitForChild;
    waiting |= waits;
    if (waits) continue;
    gone.push_back(pid);
    had_followed |= process.family.has_value();
  }
  if (had_followed) catch_up();
  for (const std::uint32_t pid : gone) erase(pid);
  return waiting;
}

void EnableWords::clear_all() {
  catch_up();
  std::vector<programs::ForeignMemory::Change> changes;
  for (const auto& [pid, process] : processes_) {
    for (const auto& [bit, word] : process.words) changes.push_back({process.space, bit, false});
  }
  memory_.set_all(std::move(changes));
}

}  // namespace landtrace::domain
