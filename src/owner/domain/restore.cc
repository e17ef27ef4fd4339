#include "domain/restore.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <unordered_map>

namespace landtrace::domain {
namespace {

std::vector<std::uint32_t> all_pids() {
  std::vector<std::uint32_t> pids;
  DIR* const folder = ::opendir("/proc");
  if (folder == nullptr) return pids;
  while (const dirent* const entry = ::readdir(folder)) {
    if (const auto pid = std::strtoul(entry->d_name, nullptr, 10); pid != 0) {
      pids.push_back(static_cast<std::uint32_t>(pid));
    }
  }
  ::closedir(folder);
  return pids;
}

std::optional<Identity> user_of(std::uint32_t pid) {
  struct stat st {};
  if (::stat(("/proc/" + std::to_string(pid)).c_str(), &st) != 0) return std::nullopt;
  return Identity{st.st_uid, st.st_gid};
}

// The process is the one that was written down, and not another that has its pid by now.
bool is_there(const ProcessId& id) { return process_id(id.pid) == id; }

// Who may have the file open: its opener, and who has words for its events, which a process gets by registering with
// the file, or by fork from one that did.
std::vector<ProcessId> keepers_of(const SavedFile& file, const std::vector<const SavedProcess*>& alive) {
  std::vector<ProcessId> keepers;
  for (const SavedProcess* const process : alive) {
    const bool has_word = std::any_of(process->words.begin(), process->words.end(), [&](const SavedWord& word) {
      return std::find(file.events.begin(), file.events.end(), word.event) != file.events.end();
    });
    if (has_word && process->id != file.opener) keepers.push_back(process->id);
  }
  if (file.opener.start != 0 && is_there(file.opener)) keepers.push_back(file.opener);
  return keepers;
}

}  // namespace

std::vector<std::uint32_t> Restorer::restore(const SavedDomain& saved) {
  // First, so that no event that is new gets the name of one that is yet to be restored.
  events_.restore_next_multi(saved.next_multi);
  restore_events(saved.events);

  const std::vector<SavedProcess> children = find_unannounced_children(saved);
  std::vector<const SavedProcess*> alive;
  for (const SavedProcess& process : saved.processes) {
    if (is_there(process.id)) alive.push_back(&process);
  }
  for (const SavedProcess& child : children) alive.push_back(&child);
  for (const SavedFile& file : saved.files) restore_file(file, alive);
  // Last: a word is set to what its event is now, listeners included.
  for (const SavedProcess* const process : alive) restore_words(*process);
  return std::move(held_);
}

void Restorer::restore_events(const std::vector<SavedEvent>& events) {
  for (const SavedEvent& each : events) {
    if (each.flavour == event::Flavour::kSynthetic || is_function_probe(each.flavour)) rules_->restore(each);
    if (each.flavour != event::Flavour::kUser) continue;
    const auto event = events_.restore(each);
    if (!event) continue;
    events_.add_reference(**event);
    held_.push_back((*event)->slot);
    restored_.emplace(each.slot, *event);
    std::ignore = rules_->select(**event);  // without room for a plan it is silent
    events_.give_place_again(**event, Page::kBits, each.status_bit);
    events_.give_place_again(**event, Page::kBytes, each.status_byte);
  }
  // An event probe may have been written down before the event that it is attached to, whose slot is another by now.
  for (const SavedEvent& each : events) {
    if (each.flavour == event::Flavour::kEventProbe) rules_->restore(each);
  }
  if (abi_ != abi::Version::k6_1) return;
  // With that kernel every user event has a bit, also one of an owner with other ways. After those that had one: a
  // program knows its bit by the number.
  for (Event* const event : events_.all()) {
    if (event->is_user_event()) std::ignore = events_.give_place(*event, Page::kBits);
  }
}

std::vector<Event*> Restorer::found(const std::vector<std::uint32_t>& slots) const {
  std::vector<Event*> events;
  for (const std::uint32_t slot : slots) {
    const auto found = restored_.find(slot);
    events.push_back(found == restored_.end() ? nullptr : found->second);
  }
  return events;
}

// A file that nobody can have open any more is not restored.
void Restorer::restore_file(const SavedFile& file, const std::vector<const SavedProcess*>& alive) {
  auto keepers = keepers_of(file, alive);
  if (!keepers.empty()) std::ignore = files_.restore(file, found(file.events), std::move(keepers));
}

void Restorer::restore_words(const SavedProcess& process) {
  std::vector<std::uint32_t> slots;
  for (const SavedWord& word : process.words) slots.push_back(word.event);
  std::ignore = enable_words_.restore(process, found(slots));
}

// A process that was forked while there was no owner to tell has copies of words that nobody knows of. It runs the same
// program as one that is known, and its claims say which words it has, or of what came through a mount its age; a
// process that is known may be gone by now.
std::vector<SavedProcess> Restorer::find_unannounced_children(const SavedDomain& saved) {
  std::unordered_map<std::uint64_t, std::vector<SavedWord>> claimed;  // by program
  std::set<std::uint32_t> known, users;
  for (const SavedProcess& process : saved.processes) {
    if (is_there(process.id)) known.insert(process.id.pid);
    for (const SavedWord& word : process.words) {
      claimed[process.space].push_back(word);
      users.insert(process.who.uid);
    }
  }
  std::vector<SavedProcess> children;
  if (claimed.empty()) return children;
  for (const std::uint32_t pid : all_pids()) {
    const auto who = user_of(pid);
    if (known.contains(pid) || !who || !users.contains(who->uid)) continue;
    const auto words = claimed.find(enable_words_.program_of(pid, *who));
    if (words == claimed.end()) continue;
    SavedProcess child{process_id(pid), *who, words->first, words->second};
    // Nothing in the process says that it has a word without a claim. One that is older than the word cannot have it.
    std::erase_if(child.words, [&](const SavedWord& word) { return word.claim == 0 && child.id.start < word.since; });
    if (!child.words.empty()) children.push_back(std::move(child));
  }
  return children;
}

}  // namespace landtrace::domain
