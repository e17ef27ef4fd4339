// What an owner takes over from the one before it.
#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <unordered_map>

#include "domain/domain.hpp"
#include "rules/probes.hpp"
#include "rules/synthetic_events.hpp"

namespace landtrace::domain {
namespace {

using EventsBySlot = std::unordered_map<std::uint32_t, Event*>;  // by the slot that they had

Event* find(const EventsBySlot& events, std::uint32_t slot) {
  const auto found = events.find(slot);
  return found == events.end() ? nullptr : found->second;
}

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

// Who may have the file open: its opener, and who has words for its events, which a process gets by registering with the
// file, or by fork from one that did.
std::vector<ProcessId> keepers_of(const SavedFile& file, const std::vector<const SavedProcess*>& alive) {
  std::vector<ProcessId> keepers;
  for (const SavedProcess* const process : alive) {
    const bool has_word = std::any_of(process->words.begin(), process->words.end(), [&](const SavedWord& word) {
      return std::find(file.events.begin(), file.events.end(), word.event) != file.events.end();
    });
    if (has_word && process->id != file.opener) keepers.push_back(process->id);
  }
  if (file.opener.start != 0 && process_id(file.opener.pid) == file.opener) keepers.push_back(file.opener);
  return keepers;
}

}  // namespace

Result<void> Domain::keep_journal(const std::string& path, Successor successor) {
  successor_ = successor;
  journal_ = std::make_unique<Journal>(path);
  const SavedDomain saved = journal_->saved();
  std::ignore = pages_.keep_in(path, saved.found);  // without files they are this owner's alone
  events_.keep(journal_.get());
  files_.keep(journal_.get());
  enable_words_.keep(journal_.get());
  restore(saved);
  auto started = journal_->start();
  if (!started) {
    events_.keep(nullptr);
    files_.keep(nullptr);
    enable_words_.keep(nullptr);
    journal_.reset();
  }
  return started;
}

void Domain::restore(const SavedDomain& saved) {
  EventsBySlot events;
  events_.restore_next_multi(saved.next_multi);
  for (const SavedEvent& each : saved.events) {
    if (each.text.starts_with("s:")) {
      if (const auto command = language::split_dynamic_synthetic(each.text)) {
        std::ignore = define_synthetic(*this, *command, each.uid);
      }
    }
    if (each.text.starts_with("s:") || each.text.starts_with(':')) continue;
    const auto event = events_.restore(each);
    if (!event) continue;
    events_.add_reference(**event);
    waiting_events_.push_back((*event)->slot);
    events.emplace(each.slot, *event);
    std::ignore = listen_as_selected(**event);  // without room for a plan it is silent
    give_place_again(**event, Page::kBits, each.status_bit);
    give_place_again(**event, Page::kBytes, each.status_byte);
  }
  for (const SavedEvent& each : saved.events) {  // what they are attached to is there by now
    const std::string_view command = each.text;
    if (command.starts_with(':') && language::EventProbeCommand::is_one(command.substr(1))) {
      std::ignore = define_probe(*this, command.substr(1), each.uid);
    }
  }
  if (abi() == abi::Version::k6_1) {  // where every user event has one
    for (Event* const event : events_.all()) {
      if (event->is_user_event()) std::ignore = give_place(*event, Page::kBits);
    }
  }
  waiting_until_ = std::chrono::steady_clock::now() + kRestoredWait;

  const std::vector<SavedProcess> children = find_unannounced_children(saved);
  std::vector<const SavedProcess*> alive;
  for (const SavedProcess& process : saved.processes) {
    if (process_id(process.id.pid) == process.id) alive.push_back(&process);
  }
  for (const SavedProcess& child : children) alive.push_back(&child);
  for (const SavedFile& file : saved.files) {
    auto keepers = keepers_of(file, alive);
    if (keepers.empty()) continue;
    std::vector<Event*> of_file;
    for (const std::uint32_t slot : file.events) of_file.push_back(find(events, slot));
    std::ignore = files_.restore(file, of_file, std::move(keepers));
  }
  for (const SavedProcess* const process : alive) {
    std::vector<Event*> of_words;
    for (const SavedWord& word : process->words) of_words.push_back(find(events, word.event));
    std::ignore = enable_words_.restore(*process, of_words);
  }
}

// A process that was forked while there was no owner to tell has copies of words that nobody knows of. It runs the same
// program as one that is known, and its claims say which words it has, or of what came through a mount its age; a process
// that is known may be gone by now.
std::vector<SavedProcess> Domain::find_unannounced_children(const SavedDomain& saved) {
  std::unordered_map<std::uint64_t, std::vector<SavedWord>> claimed;  // by program
  std::set<std::uint32_t> known, users;
  for (const SavedProcess& process : saved.processes) {
    if (process_id(process.id.pid) == process.id) known.insert(process.id.pid);
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
    std::erase_if(child.words, [&](const SavedWord& word) { return word.claim == 0 && child.id.start < word.since; });
    if (!child.words.empty()) children.push_back(std::move(child));
  }
  return children;
}

// Programs know the place, and look there.
void Domain::give_place_again(Event& event, Page page, std::uint32_t place) {
  if (!pages_.take_again(page, place)) return;
  (page == Page::kBits ? event.status_bit : event.status_byte) = place;
  pages_.set(page, place, event.listeners.any());
  events_.write_down(event);
}

bool Domain::is_anything_to_take_over() {
  enable_words_.sweep();
  const std::vector<Event*> events = events_.all();
  return enable_words_.has_words() || files_.is_any_open() ||
         std::any_of(events.begin(), events.end(), [](const Event* event) { return (event->flags & kPersist) != 0; });
}

void Domain::let_go_of_waiting_events() {
  const auto events = std::exchange(waiting_events_, {});
  for (const std::uint32_t slot : events) events_.drop_reference(slot);
}

std::vector<std::uint32_t> Domain::processes() const {
  std::vector<std::uint32_t> pids = enable_words_.processes();
  const auto keepers = files_.keepers();
  pids.insert(pids.end(), keepers.begin(), keepers.end());
  return pids;
}

bool Domain::processes_ended() {
  const bool waiting = enable_words_.sweep();
  files_.drop_dead_keepers();
  return waiting;
}

}  // namespace landtrace::domain
