// An event in an instance: what the files of its folder there are about. (The kernel's word for it is event file.)
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "language/filter/failure.hpp"
#include "language/trigger/command.hpp"
#include "plan/segments.hpp"

namespace landtrace::domain {

struct Histogram;

struct EventFilter {
  std::string expression;                          // as it was written; "" none
  std::optional<language::FilterFailure> failure;  // why it judges nothing
  std::uint32_t program = 0;  // offset of the filter::Program in the control segment; 0: everything passes
};

struct EventTrigger {
  language::TriggerCommand command;
  std::string filter;
  std::uint32_t program = 0;  // of its filter, as above
  std::int64_t limit = language::kUnlimited;
  std::uint32_t counter = 0;      // the cell that counts what it did, if that is limited
  std::uint32_t target = 0;       // the cell that it changes
  std::uint32_t target_slot = 0;  // the event that it switches
  std::shared_ptr<Histogram> histogram;
  std::uint32_t pause = 0;  // cell: the histogram's own switch
  std::uint32_t plan = 0;   // offset of its hist::HistPlan in the control segment
};

struct EventFile {
  EventFilter filter;
  // Soft mode: the event stays enabled, so that triggers can look at it or switch it, and a switch says whether it is recorded.
  unsigned soft_references = 0;
  std::uint32_t soft_switch = 0;  // cell
  // Cell: throws the switches of all histograms here, for triggers of other events. Of this and a histogram's own the newest
  // throw counts. 0: not needed yet.
  std::uint32_t hist_switch = 0;
  std::vector<EventTrigger> triggers;  // the newest first, then the histograms, the oldest first
  std::vector<std::uint32_t> probes;   // slots of the event probes whose trigger is here; they come last
  std::uint32_t trigger_list = 0;      // offset of the plan::TriggerList in the control segment; 0: no triggers

  [[nodiscard]] bool in_soft_mode() const { return soft_references > 0; }
};

// The kernel's: it waits for the event itself only if some trigger must see it, or acts behind it.
[[nodiscard]] bool is_conditional(const std::vector<EventTrigger>& triggers);

}  // namespace landtrace::domain
