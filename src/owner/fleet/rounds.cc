#include "fleet/rounds.hpp"

#include <chrono>

#include "arch/clock.hpp"

namespace landtrace::fleet {

Rounds::Rounds() : thread_([this] { run(); }) {}

Rounds::~Rounds() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Rounds::Member Rounds::add(Round round) {
  const std::lock_guard lock(mutex_);
  const Member member = next_++;
  const std::uint64_t now_ns = arch::monotonic_ns();
  members_[member] = {std::move(round), now_ns, false};
  due_.emplace(now_ns, member);
  changed_.notify_all();
  return member;
}

// Those who have waited longer come first: neither who rings for itself all the time nor who is new keeps others from a
// round.
void Rounds::ring(Member member) {
  const std::lock_guard lock(mutex_);
  const auto found = members_.find(member);
  if (found == members_.end() || found->second.is_leaving) return;
  if (member == under_way_) {
    is_rung_ = true;
    return;
  }
  const std::uint64_t now_ns = arch::monotonic_ns();
  Place& place = found->second;
  if (place.due_ns <= now_ns) return;
  due_.erase({place.due_ns, member});
  place.due_ns = now_ns;
  due_.emplace(now_ns, member);
  changed_.notify_all();
}

// Not due any more first: one that always is would begin again before this has the lock.
void Rounds::remove(Member member) {
  std::unique_lock lock(mutex_);
  const auto found = members_.find(member);
  if (found == members_.end()) return;
  found->second.is_leaving = true;
  due_.erase({found->second.due_ns, member});
  changed_.wait(lock, [&] { return under_way_ != member; });
  members_.erase(member);
}

void Rounds::run() {
  std::unique_lock lock(mutex_);
  while (!is_over_) {
    if (due_.empty() || due_.begin()->first == kNever) {
      changed_.wait(lock);
      continue;
    }
    const auto [due_ns, member] = *due_.begin();
    const std::uint64_t now_ns = arch::monotonic_ns();
    if (due_ns > now_ns) {
      changed_.wait_for(lock, std::chrono::nanoseconds(due_ns - now_ns));
      continue;
    }
    due_.erase(due_.begin());
    run_one(member, lock);
  }
}

void Rounds::run_one(Member member, std::unique_lock<std::mutex>& lock) {
  Place& place = members_.at(member);
  under_way_ = member;
  is_rung_ = false;
  lock.unlock();
  const std::uint64_t next_ns = place.round();
  lock.lock();
  under_way_ = 0;
  place.due_ns = is_rung_ ? arch::monotonic_ns() : next_ns;
  if (!place.is_leaving) due_.emplace(place.due_ns, member);
  changed_.notify_all();
}

}  // namespace landtrace::fleet
