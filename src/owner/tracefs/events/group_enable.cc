#include "tracefs/events/group_enable.hpp"

#include <algorithm>

#include "tracefs/events/switch.hpp"

namespace landtrace::tracefs {

Result<void> GroupEnable::check_open(const Caller&, int) {
  if (!events_.is_all() && select(*instance_, events_).empty()) return fail(ENODEV, "the system has no event");
  return {};
}

Result<std::string> GroupEnable::text() {
  const auto events = select(*instance_, events_);
  const auto on = std::count_if(events.begin(), events.end(),
                                [&](const domain::Event* event) { return event->listeners[instance_->index]; });
  if (on == 0) return "0\n";
  return static_cast<std::size_t>(on) == events.size() ? "1\n" : "X\n";
}

Result<std::size_t> GroupEnable::store_in_turns(const Caller&, std::string_view bytes, Rest& rest) {
  LT_TRY(const bool on, switch_in(bytes));
  LT_TRY(const bool done, listen_in_turns(instance_, events_, on, bytes, rest));
  return done ? bytes.size() : 0;
}

}  // namespace landtrace::tracefs
