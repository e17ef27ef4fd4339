#include "domain/arrivals.hpp"

namespace landtrace::domain {

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

Arrivals::Ticket Arrivals::next() const {
  const std::lock_guard lock(mutex_);
  return next_;
}

void Arrivals::wait_before(Ticket ticket) const {
  std::unique_lock lock(mutex_);
  ended_.wait_for(lock, longest_, [&] { return on_their_way_.empty() || *on_their_way_.begin() >= ticket; });
}

}  // namespace landtrace::domain
