#include "domain/word_processes.hpp"

#include <utility>

namespace landtrace::domain {
namespace {

// Its memory, two maps of it, and what tells that it has ended.
constexpr std::uint32_t kDescriptors = 4;

}  // namespace

WordProcess* WordProcesses::find(std::uint32_t pid) {
  const auto found = processes_.find(pid);
  return found == processes_.end() ? nullptr : &found->second;
}

Result<WordProcess*> WordProcesses::add(std::shared_ptr<AddressSpace> space, Identity who) {
  const std::uint32_t pid = space->pid;
  if (WordProcess* const known = find(pid)) return known;
  if (!descriptors_.take(who.uid, kDescriptors)) return fail(EMFILE, "the user has as many programs here as they may");
  WordProcess& process =
      processes_.emplace(pid, WordProcess{who, std::move(space), {}, 0, {}, {}, who.uid}).first->second;
  served_by_.watch_process(pid);
  return &process;
}

void WordProcesses::erase(std::uint32_t pid) {
  const auto node = processes_.extract(pid);
  if (node.empty()) return;
  const Journal::Batch batch(journal_);
  descriptors_.give_back(node.mapped().counted_for, kDescriptors);
  if (journal_ != nullptr && !node.mapped().words.empty()) journal_->process_gone(pid);
  for (const auto& [bit, word] : node.mapped().words) {
    --words_of_[word.uid];
    events_.drop_reference(word.event, word.uid);
  }
}

void WordProcesses::insert(WordProcess& process, EnableBit bit, EnableWord word, Event& event) {
  word.uid = process.who.uid;
  if (!process.words.emplace(bit, word).second) return;
  ++words_of_[word.uid];
  events_.add_reference(event, word.uid);
  // What has no identity could not be told from the program that has its pid later.
  if (journal_ == nullptr || process.space->identity == 0) return;
  const std::uint32_t pid = process.space->pid;
  if (process.words.size() == 1) {
    journal_->process_known({process_id(pid), process.who, process.space->identity, {}});
  }
  journal_->word_added(pid, {bit, word.event, word.claim, word.since_ticks});
}

void WordProcesses::forget(WordProcess& process, EnableWordsByBit::iterator word) {
  const auto [event, uid] = std::pair(word->second.event, word->second.uid);
  if (journal_ != nullptr) journal_->word_removed(process.space->pid, word->first);
  process.words.erase(word);
  --words_of_[uid];
  events_.drop_reference(event, uid);
}

void WordProcesses::copy_words(const EnableWordsByBit& from, WordProcess& to, std::uint64_t ticks) {
  const Journal::Batch batch(journal_);
  std::vector<programs::ForeignMemory::Change> changes;
  for (const auto& [bit, word] : from) {
    Event* const event = events_.at(word.event);
    if (event == nullptr || word.since_ticks > ticks || to.words.contains(bit)) continue;
    if (!may_have_more(to.who.uid)) break;
    insert(to, bit, word, *event);
    changes.push_back({to.space, bit, event->listeners.any()});
  }
  set_all(std::move(changes));
}

void WordProcesses::refresh(const std::vector<bool>& wanted) {
  std::vector<programs::ForeignMemory::Change> changes;
  for (const auto& [pid, process] : processes_) {
    for (const auto& [bit, word] : process.words) {
      if (wanted[word.event]) changes.push_back({process.space, bit, events_.at(word.event)->listeners.any()});
    }
  }
  set_all(std::move(changes));
}

void WordProcesses::make_up() {
  memory_.look_after();
  if (!memory_.take_any_missed()) return;
  std::vector<programs::ForeignMemory::Change> changes;
  for (const auto& [pid, process] : processes_) {
    if (!process.space->has_missed) continue;
    if (!memory_.answers(*process.space)) {
      memory_.miss(*process.space);
      continue;
    }
    process.space->has_missed = false;
    for (const auto& [bit, word] : process.words) {
      changes.push_back({process.space, bit, events_.at(word.event)->listeners.any()});
    }
  }
  memory_.set_all(std::move(changes));
}

void WordProcesses::set_all(std::vector<programs::ForeignMemory::Change> changes) {
  memory_.set_all(std::move(changes));
  if (memory_.any_missed() || memory_.is_at_work()) served_by_.wake();
}

}  // namespace landtrace::domain
