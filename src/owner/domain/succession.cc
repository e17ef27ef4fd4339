#include "domain/succession.hpp"

#include <algorithm>
#include <utility>

namespace landtrace::domain {

Result<void> Succession::keep_journal(const std::string& path, Successor successor) {
  successor_ = successor;
  journal_ = std::make_unique<Journal>(path);
  const SavedDomain saved = journal_->saved();
  std::ignore = pages_.keep_in(path, saved.found);  // without files they are this owner's alone
  // Before anything is restored: what is restored is written down like anything else, so that the new file has it.
  // Until start() the old file stays as it is, and an owner that is killed meanwhile loses nothing.
  write_down_in(journal_.get());
  held_ = Restorer(events_, files_, enable_words_, rules_, abi_).restore(saved);
  held_until_ = std::chrono::steady_clock::now() + kRestoredWait;
  if (!saved.damage.empty()) {
    const std::string aside = journal_->set_aside();
    damage_ = saved.damage + (aside.empty() ? "" : "; it is now " + aside);
  }
  auto started = journal_->start();
  if (!started) {
    write_down_in(nullptr);
    journal_.reset();
  }
  return started;
}

void Succession::write_down_in(Journal* journal) {
  events_.keep(journal);
  files_.keep(journal);
  enable_words_.keep(journal);
}

void Succession::let_go_when_due() {
  const auto due = next_deadline();
  if (!due || std::chrono::steady_clock::now() < *due) return;
  for (const std::uint32_t slot : std::exchange(held_, {})) events_.drop_reference(slot);
}

bool Succession::is_anything_to_take_over() {
  enable_words_.sweep();
  const std::vector<Event*> events = events_.all();
  return enable_words_.has_words() || files_.is_any_open() ||
         std::any_of(events.begin(), events.end(), [](const Event* event) { return (event->flags & kPersist) != 0; });
}

void Succession::end() {
  if (journal_ && successor_ == Successor::kMayCome && is_anything_to_take_over()) return journal_->leave();
  if (journal_) journal_->end();
  pages_.remove_files();
}

}  // namespace landtrace::domain
