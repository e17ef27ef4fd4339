// Which events a word of set_event, or an enable file, is about.
#pragma once

#include <optional>

#include "tracefs/instance_state.hpp"

namespace landtrace::tracefs {

// What is not set does not matter.
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

// Listens to them, or stops it. EINVAL where there is none, unless all were meant.
Result<void> listen_to(const InstanceState& instance, const Selection& selection, bool on);

}  // namespace landtrace::tracefs
