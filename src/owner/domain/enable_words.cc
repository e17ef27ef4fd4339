#include "domain/enable_words.hpp"

#include <algorithm>
#include <utility>

#include "base/fd.hpp"

namespace landtrace::domain {
namespace {

using programs::ForeignMemory;

constexpr auto kWaitForChild = std::chrono::seconds(1);
constexpr const char* kForeign = "another user's process";

// Whether the process is the user's by its real id. A request may be late, and its pid another's by now.
bool is_run_by(std::uint32_t pid, std::uint32_t uid) {
  const auto status = read_file("/proc/" + std::to_string(pid) + "/status");
  return status && status->find("\nUid:\t" + std::to_string(uid) + "\t") != std::string::npos;
}

// A daemon may open its files as root and go on as somebody else.
bool has_become(WordProcess& process, Identity client) {
  if (process.who.uid != 0 || !is_run_by(process.space->pid, client.uid)) return false;
  process.who = client;
  return true;
}

}  // namespace

Result<WordProcess*> EnableWords::find_process(std::uint32_t pid, Identity client) {
  WordProcess* known = processes_.find(pid);
  if (known == nullptr) known = find_sharer(pid, client);
  if (known == nullptr) return nullptr;
  if (known->space->is_alive()) {
    if (known->who.uid != client.uid && !has_become(*known, client)) return fail(EPERM, kForeign);
    return known;
  }
  const std::uint32_t gone = known->space->pid;
  if (known->family) forks_.catch_up();  // its children have copies of what goes
  forks_.forget(gone);
  return nullptr;
}

Result<WordProcess*> EnableWords::process(std::uint32_t pid, Identity client) {
  LT_TRY(WordProcess * known, find_process(pid, client));
  if (known != nullptr) return known;
  LT_TRY(auto space, memory_.open(pid, client));
  return processes_.add(std::move(space), client);
}

WordProcess* EnableWords::find_sharer(std::uint32_t pid, Identity client) {
  if (processes_.all().empty()) return nullptr;
  const auto task = programs::stat_of(pid);
  WordProcess* const parent = task ? processes_.find(task->parent) : nullptr;
  // Another user's parent may hang, and is nothing that the client's programs are to be blamed for.
  if (parent == nullptr || (parent->who.uid != client.uid && parent->who.uid != 0)) return nullptr;
  return memory_.share_memory(task->parent, pid, client.uid) ? parent : nullptr;
}

Result<std::shared_ptr<AddressSpace>> EnableWords::known_space(std::uint32_t pid, Identity client) {
  LT_TRY(const WordProcess* const known, find_process(pid, client));
  return known == nullptr ? nullptr : known->space;
}

Result<void> EnableWords::know(const std::shared_ptr<AddressSpace>& space, Identity client) {
  LT_TRY(const WordProcess* const known, find_process(space->pid, client));
  if (known != nullptr || !space->is_alive()) return {};
  LT_CHECK(processes_.add(space, client));
  return {};
}

Result<void> EnableWords::check_unused(std::uint32_t pid, Identity client, EnableBit bit, std::uint64_t claim) {
  forks_.catch_up(pid);
  LT_TRY(WordProcess* const owner, process(pid, client));
  const auto found = owner->words.find(bit);
  if (found == owner->words.end() || found->second.is_left || (claim != 0 && found->second.claim == claim)) return {};
  return fail(EADDRINUSE, "this bit of this enable word is registered already");
}

Result<void> EnableWords::add(std::uint32_t pid, Identity client, EnableBit bit, Event& event, std::uint64_t claim) {
  LT_TRY(WordProcess* const owner, process(pid, client));
  if (!processes_.may_have_more(owner->who.uid)) return fail(ENOMEM, "the user has as many enable words as they may");
  if (auto set = memory_.check_and_set(owner->space, bit, event.listeners.any()); !set) {
    return fail(ENOMEM, std::move(set).error().message);
  }
  if (const auto left = owner->words.find(bit); left != owner->words.end() && left->second.is_left) {
    processes_.forget(*owner, left);
  }
  processes_.insert(*owner, bit, {event.slot, programs::now_ticks(), claim}, event);
  return {};
}

Result<void> EnableWords::remove(std::uint32_t pid, Identity client, EnableBit bit) {
  forks_.catch_up(pid);
  LT_TRY(WordProcess* const owner, process(pid, client));
  const auto found = owner->words.find(bit);
  if (found == owner->words.end()) return fail(ENOENT, "this enable word is not registered");
  auto cleared = memory_.check_and_set(owner->space, bit, false);
  processes_.forget(*owner, found);
  if (!cleared) return fail(EFAULT, std::move(cleared).error().message);
  return {};
}

void EnableWords::remember(std::uint32_t pid, Identity client) { std::ignore = process(pid, client); }

Result<void> EnableWords::expect_child(std::uint32_t pid, Identity client) {
  if (!has_process(pid)) return {};
  LT_TRY(WordProcess* const parent, process(pid, client));
  ++parent->expected_children;
  return {};
}

Result<void> EnableWords::duplicate(std::uint32_t parent, std::uint32_t child, Identity client) {
  WordProcess* const known = processes_.find(parent);
  if (known == nullptr) return {};
  if (known->who.uid != client.uid) return fail(EPERM, kForeign);
  if (known->expected_children > 0) --known->expected_children;
  if (!processes_.may_have_more(client.uid)) return {};  // none of the words would be registered
  // A copy: to look the child up may show that its parent is gone, and drop what is known of that.
  const EnableWordsByBit words = known->words;
  LT_TRY(WordProcess* const copy, process(child, client));
  processes_.copy_words(words, *copy, WordProcesses::kAnyTime);
  return {};
}

Result<void> EnableWords::restore(const SavedProcess& saved, const std::vector<Event*>& events) {
  if (process_id(saved.id.pid) != saved.id) return fail(ESRCH, "the process is gone");
  LT_TRY(WordProcess* const known, process(saved.id.pid, saved.who));
  // Between the look at the process and the opening of its memory it may have ended: so by the number once more.
  if (known->space->identity != saved.space || process_id(saved.id.pid) != saved.id) {
    return fail(ESRCH, "the process has become another program");
  }
  std::vector<ForeignMemory::KnownWord> words;
  std::unordered_map<std::uint64_t, std::uint64_t> registered;  // bits by address
  for (const SavedWord& word : saved.words) registered[word.bit.address] |= 1ull << word.bit.bit;
  const std::size_t count = std::min(saved.words.size(), processes_.room_of(known->who.uid));
  for (std::size_t i = 0; i < count; ++i) {
    const bool on = events[i] != nullptr && events[i]->listeners.any();
    const EnableBit bit = saved.words[i].bit;
    words.push_back({bit, saved.words[i].claim, on, registered[bit.address]});
  }
  const std::vector<bool> taken = memory_.take_over(known->space, words);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!taken[i] || events[i] == nullptr) continue;
    const bool is_unclaimed = words[i].claim == 0;
    processes_.insert(*known, words[i].bit, {events[i]->slot, saved.words[i].since, words[i].claim, is_unclaimed},
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

Result<void> EnableWords::follow_forks(std::uint32_t pid, Identity client) {
  // First: what its own parent's forks have made of it, with the words that it has from there.
  forks_.catch_up(pid);
  LT_TRY(WordProcess* const process, this->process(pid, client));
  forks_.follow(*process);
  return {};
}

std::vector<std::uint32_t> EnableWords::processes() const {
  std::vector<std::uint32_t> pids;
  for (const auto& [pid, process] : processes_.all()) pids.push_back(pid);
  return pids;
}

bool EnableWords::has_words() const {
  return std::any_of(processes_.all().begin(), processes_.all().end(),
                     [](const auto& entry) { return !entry.second.words.empty(); });
}

void EnableWords::refresh(const std::vector<Event*>& events) {
  std::vector<bool> wanted(plan::kMaxEvents, false);
  for (const Event* const event : events) wanted[event->slot] = true;
  processes_.refresh(wanted);
  // Whoever was forked before its parent's word was written has the old one, and gets the new one now.
  forks_.catch_up();
}

bool EnableWords::sweep() {
  const auto now = std::chrono::steady_clock::now();
  bool waiting = false;
  bool had_followed = false;
  std::vector<std::uint32_t> gone;
  for (auto& [pid, process] : processes_.all()) {
    if (process.space->is_alive()) continue;
    if (process.gone == decltype(now){}) process.gone = now;
    const bool waits = process.expected_children > 0 && now - process.gone < kWaitForChild;
    waiting |= waits;
    if (waits) continue;
    gone.push_back(pid);
    had_followed |= process.family.has_value();
  }
  // Before they are dropped: children of theirs that nobody knows of yet have copies of their words.
  if (had_followed) forks_.catch_up();
  for (const std::uint32_t pid : gone) forks_.forget(pid);
  return waiting;
}

void EnableWords::clear_all() {
  forks_.catch_up();
  std::vector<ForeignMemory::Change> changes;
  for (const auto& [pid, process] : processes_.all()) {
    for (const auto& [bit, word] : process.words) changes.push_back({process.space, bit, false});
  }
  memory_.set_all(std::move(changes), ForeignMemory::Wait::kToTheEnd);
}

}  // namespace landtrace::domain
