// What a user wants of an event in an instance beyond its being recorded: what the files `filter`, `trigger` and `hist`
// of the event's folder there are about.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "language/filter/failure.hpp"
#include "rules/domain_names.hpp"
#include "language/trigger/command.hpp"

namespace landtrace::rules {

struct Histogram;

struct EventFilter {
  std::string expression;                          // as it was written; "" none
  std::optional<language::FilterFailure> failure;  // why it judges nothing
};

struct EventTrigger {
  language::TriggerCommand command;
  std::string filter;
  std::uint32_t program = 0;  // offset of its filter's filter::Program in the control segment; 0: everything passes
  std::int64_t limit = language::kUnlimited;
  std::uint32_t counter = 0;      // the cell that counts what it did, if that is limited
  std::uint32_t target = 0;       // the cell that it changes
  std::uint32_t target_slot = 0;  // the event that it switches
  std::shared_ptr<Histogram> histogram;
  std::uint32_t pause = 0;  // cell: the histogram's own switch
  std::uint32_t plan = 0;   // offset of its hist::HistPlan in the control segment
};

// What is attached to a domain::EventFile.
struct FileRules final : domain::Attachment {
  EventFilter filter;
  // Cell: throws the switches of all histograms here, for triggers of other events. Of this and a histogram's own the
  // newest throw counts. 0: not needed yet.
  std::uint32_t hist_switch = 0;
  std::vector<EventTrigger> triggers;       // the newest first, then the histograms, the oldest first
  std::vector<std::uint32_t> event_probes;  // slots of the event probes whose trigger is here; they come behind these
  std::vector<std::uint32_t> programs;      // offsets of bpf::Programs in the control segment; they come last
};

// nullptr: there are none yet.
const FileRules* find_rules(const Event& event, const Instance& instance);
FileRules* find_rules(Event& event, const Instance& instance);
// Made where there are none yet.
FileRules& rules_of(Event& event, const Instance& instance);

// The kernel's: it waits for the event itself only if some trigger must see it, or acts behind it.
[[nodiscard]] bool is_conditional(const std::vector<EventTrigger>& triggers);

}  // namespace landtrace::rules
