#include "tracefs/events/switching.hpp"

#include <algorithm>

#include "tracefs/context.hpp"

namespace landtrace::tracefs {
namespace {

// Enable words are written, and agents told, once for so many.
constexpr std::size_t kAtOnce = 32;

}  // namespace

Switching::Switching(InstancePtr state, const std::vector<domain::Event*>& events, bool on)
    : state_(std::move(state)), on_(on) {
  events_.reserve(events.size());
  for (const domain::Event* const event : events) events_.emplace_back(event->slot, event->serial);
}

std::vector<domain::Event*> Switching::take_some() {
  std::vector<domain::Event*> some;
  const std::size_t end = std::min(next_ + kAtOnce, events_.size());
  for (; next_ < end; ++next_) {
    const auto& [slot, serial] = events_[next_];
    domain::Event* const event = state_->context.domain.events().at(slot);
    if (event != nullptr && event->serial == serial) some.push_back(event);
  }
  return some;
}

Result<bool> Switching::go_on(const domain::Turn& turn) {
  do {
    LT_TRY(domain::Instance* const instance, state_->get());
    auto set = state_->context.domain.listening().set(*instance, take_some(), on_);
    if (!set && result_) result_ = std::move(set);
    if (!result_ && result_.error().code == ENOSPC) break;  // the others would not find room either
    if (next_ < events_.size() && turn.is_over()) return false;
  } while (next_ < events_.size());
  LT_CHECK(result_);
  return true;
}

}  // namespace landtrace::tracefs
