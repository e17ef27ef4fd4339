#include "domain/thread_lists.hpp"

#include <algorithm>

namespace landtrace::domain {
namespace {

using Ids = std::vector<std::uint32_t>;

void add_list(Ids& words, std::size_t count_at, const Ids& ids) {
  words[count_at] = static_cast<std::uint32_t>(ids.size());
  words.insert(words.end(), ids.begin(), ids.end());
}

void follow(Threads& threads, const programs::ThreadChange& change, bool& changed) {
  if (!threads) return;
  const auto place_of = [&](std::uint32_t id) { return std::lower_bound(threads->begin(), threads->end(), id); };
  const auto is_listed = [&](std::uint32_t id) { return std::binary_search(threads->begin(), threads->end(), id); };
  const bool listed = is_listed(change.thread);
  using Kind = programs::ThreadChange::Kind;
  if (change.kind == Kind::kBegins && !listed && is_listed(change.parent)) {
    threads->insert(place_of(change.thread), change.thread);
    changed = true;
  } else if (change.kind == Kind::kEnds && listed) {
    threads->erase(place_of(change.thread));
    changed = true;
  }
}

}  // namespace

Result<void> ThreadLists::set(Instance& instance, Threads only, Threads never) {
  for (Threads* const list : {&only, &never}) {
    if (*list) std::sort((*list)->begin(), (*list)->end());
  }
  Ids words{plan::ThreadList::kEverybody, 0};
  if (only) add_list(words, 0, *only);
  if (never) add_list(words, 1, *never);
  std::uint32_t next = 0;
  if (only || never) {
    LT_TRY(next, control_.store(std::as_bytes(std::span(words))));
  }
  const std::uint32_t old = instance.threads.published;
  const bool follows = instance.threads.follows_forks;
  instance.threads = {std::move(only), std::move(never), follows, next};
  const auto published = plans_.publish_all(instance);
  if (old != 0) grace_.after_readers([this, old] { control_.free(old); });
  follow_where_wanted();
  return published;
}

void ThreadLists::follow_forks(Instance& instance, bool on) {
  instance.threads.follows_forks = on;
  follow_where_wanted();
}

void ThreadLists::follow_where_wanted() {
  const auto instances = instances_.all();
  const bool wanted = std::any_of(instances.begin(), instances.end(), [](const Instance* instance) {
    return instance->threads.follows_forks && instance->threads.is_set();
  });
  if (wanted == events_.has_value()) return;
  events_.reset();
  if (wanted) {
    if (auto events = programs::ThreadEvents::subscribe()) events_.emplace(*std::move(events));
  }
  // Pairs with the acquire load in is_following().
  __atomic_store_n(&is_following_, events_.has_value(), __ATOMIC_RELEASE);
  served_by_.wake();  // there is another descriptor to wait for, or one less
}

void ThreadLists::catch_up() {
  if (!events_) return;
  const std::vector<programs::ThreadChange> changes = events_->drain();
  if (changes.empty()) return;
  for (Instance* const instance : instances_.all()) {
    if (!instance->threads.follows_forks) continue;
    Threads only = instance->threads.only, never = instance->threads.never;
    bool changed = false;
    for (const programs::ThreadChange& change : changes) {
      follow(only, change, changed);
      follow(never, change, changed);
    }
    if (changed) std::ignore = set(*instance, std::move(only), std::move(never));
    if (!events_) return;  // the lists that grew were the last ones to be followed
  }
}

}  // namespace landtrace::domain
