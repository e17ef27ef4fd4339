// The events that a word of set_event, or an enable file, means.
#pragma once

#include <optional>

#include "tracefs/instance_state.hpp"
#include "tracefs/rest.hpp"

namespace landtrace::tracefs {

// A part that is not set fits every event.
struct Selection {
  std::optional<std::string> system;
  std::optional<std::string> event;
  std::optional<std::string> either;  // of system and event

  static Selection parse(std::string_view word);
  [[nodiscard]] bool is_all() const { return !system && !event && !either; }
  [[nodiscard]] bool has(const domain::Event& candidate) const;
};

// The instance's events that are in the selection.
std::vector<domain::Event*> select(const InstanceState& instance, const Selection& selection);

// The pattern of events that are expected (expected_system.hpp).
inline constexpr const char* kUserEvents = "user_events:*";

// Listens to them, or stops. EINVAL: there are none (but all of no events are fine). Who stops listening to all of
// user_events expects none any more.
Result<void> listen_to(const InstanceState& instance, const Selection& selection, bool on);
// The same in turns, for the write of `text`. True: it is done.
Result<bool> listen_in_turns(const InstancePtr& instance, const Selection& selection, bool on, std::string_view text,
                             Rest& rest);

}  // namespace landtrace::tracefs
