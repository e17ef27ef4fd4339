// An event in an instance: what the files of its folder there are about. (The kernel's word for it is event file.)
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "filter/failure.hpp"
#include "plan/segments.hpp"
#include "trigger/command.hpp"

namespace landtrace::domain {

struct EventFilter {
  std::string expression;                  // as it was written; "" none
  std::optional<filter::Failure> failure;  // why it judges nothing
  std::uint32_t program = 0;               // offset of the filter::Program in the control segment; 0: everything passes
};

struct EventTrigger {
  trigger::Command command;
  std::string filter;
  std::uint32_t program = 0;  // of its filter, as above
  std::int64_t limit = trigger::kUnlimited;
  std::uint32_t counter = 0;      // the cell that counts what it did, if that is limited
  std::uint32_t target = 0;       // the cell that it changes
  std::uint32_t target_slot = 0;  // the event that it switches
};

struct EventFile {
  EventFilter filter;
  // Soft mode: the event stays enabled, so that triggers can look at it or switch it, and a switch says whether it is recorded.
  unsigned soft_references = 0;
  std::uint32_t soft_switch = 0;       // cell
  std::vector<EventTrigger> triggers;  // the newest first
  std::vector<std::uint32_t> probes;   // slots of the event probes whose trigger is here; they come last
  std::uint32_t trigger_list = 0;      // offset of the plan::TriggerList in the control segment; 0: no triggers

  [[nodiscard]] bool in_soft_mode() const { return soft_references > 0; }
};

// The kernel's: it waits for the event itself only if some trigger must see it, or acts behind it.
[[nodiscard]] bool is_conditional(const std::vector<EventTrigger>& triggers);

}  // namespace landtrace::domain
