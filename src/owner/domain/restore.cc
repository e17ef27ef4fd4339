#include "domain/restore.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <tuple>
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

using ByEvent = std::unordered_map<std::uint32_t, std::vector<const SavedProcess*>>;

// Who has words for each event, each once.
ByEvent by_event(const std::vector<const SavedProcess*>& alive) {
  ByEvent processes;
  for (const SavedProcess* const process : alive) {
    for (const SavedWord& word : process->words) {
      auto& with_it = processes[word.event];
      if (with_it.empty() || with_it.back() != process) with_it.push_back(process);
    }
  }
  return processes;
}

// Who may have the file open: its opener, and who has words for its events, which a process gets by registering with
// the file, or by fork from one that did.
std::vector<ProcessId> keepers_of(const SavedFile& file, const ByEvent& processes) {
  std::vector<ProcessId> keepers;
  std::set<std::uint32_t> pids;
  for (const std::uint32_t event : file.events) {
    const auto with_it = processes.find(event);
    if (with_it == processes.end()) continue;
    for (const SavedProcess* const process : with_it->second) {
      if (process->id != file.opener && pids.insert(process->id.pid).second) keepers.push_back(process->id);
    }
  }
  if (file.opener.start != 0 && is_there(file.opener)) keepers.push_back(file.opener);
  return keepers;
}

// Processes of one program have the same words, mostly: each counts once, and since the first of them had it.
class DistinctWords {
 public:
  void add(const SavedWord& word) {
    const auto [found, is_new] =
        places_.try_emplace({word.bit.address, word.bit.bit, word.event, word.claim}, all_.size());
    if (is_new) {
      all_.push_back(word);
    } else {
      all_[found->second].since = std::min(all_[found->second].since, word.since);
    }
  }
  [[nodiscard]] const std::vector<SavedWord>& all() const { return all_; }

 private:
  std::map<std::tuple<std::uint64_t, std::uint8_t, std::uint32_t, std::uint64_t>, std::size_t> places_;
  std::vector<SavedWord> all_;
};

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
  const ByEvent processes = by_event(alive);
  for (const SavedFile& file : saved.files) restore_file(file, keepers_of(file, processes));
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
void Restorer::restore_file(const SavedFile& file, std::vector<ProcessId> keepers) {
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
  std::unordered_map<std::uint64_t, DistinctWords> claimed;  // by program
  std::set<std::uint32_t> known, users;
  for (const SavedProcess& process : saved.processes) {
    if (is_there(process.id)) known.insert(process.id.pid);
    for (const SavedWord& word : process.words) {
      claimed[process.space].add(word);
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
    SavedProcess child{process_id(pid), *who, words->first, words->second.all()};
    // Nothing in the process says that it has a word without a claim. One that is older than the word cannot have it.
    std::erase_if(child.words, [&](const SavedWord& word) { return word.claim == 0 && child.id.start < word.since; });
    if (!child.words.empty()) children.push_back(std::move(child));
  }
  return children;
}

}  // namespace landtrace::domain
