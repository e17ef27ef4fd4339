#include "domain/arrivals.hpp"

#include <chrono>

namespace landtrace::domain {
namespace {

constexpr std::chrono::seconds kLongest(1);

}  // namespace

Arrivals::Ticket Arrivals::begin() {
  const std::lock_guard lock(mutex_);
  on_their_way_.insert(next_);
  return next_++;
}

void Arrivals::end(Ticket ticket) {
  {
    const std::lock_guard lock(mutex_);
    on_their_way_.erase(ticket);
  }
  ended_.notify_all();
}

bool Arrivals::are_awaited() const {
  const std::lock_guard lock(mutex_);
  return !on_their_way_.empty();
}

void Arrivals::wait() const {
  std::unique_lock lock(mutex_);
  const Ticket first_not_meant = next_;
  ended_.wait_for(lock, kLongest, [&] { return on_their_way_.empty() || *on_their_way_.begin() >= first_not_meant; });
}

}  // namespace landtrace::domain
