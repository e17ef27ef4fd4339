// Triggers of events in an instance: section 6 of the kernel's "Event Tracing". They act in the producers; here they are set
// up and taken away. Who calls these holds the domain.
#pragma once

#include <optional>
#include <string>

#include "domain/domain.hpp"
#include "trigger/command.hpp"

namespace landtrace::domain {

struct RefusedTrigger {
  Error error;
  std::optional<filter::Failure> filter;  // why its filter is none
  std::string expression;                 // that filter
};

// What was written to the event's `trigger` file: a trigger to be added, or one to be removed, which need not be there.
// EINVAL, ERANGE for what is no trigger of this event, EEXIST where it has one of the family, ENOSPC, ENOMEM.
tl::expected<void, RefusedTrigger> apply_trigger(Domain& domain, Instance& instance, Event& event,
                                                 std::string_view command);
void remove_all_triggers(Domain& domain, Instance& instance, Event& event);

// What the event's triggers and event probes do in the instance, for producers. To be called after any of that has changed.
Result<void> publish_triggers(Domain& domain, Instance& instance, Event& event);

// Filters of triggers that look for functions find them anew.
void refresh_trigger_functions(Domain& domain, Instance& instance, Event& event);

// What the file says.
std::string triggers_text(const Domain& domain, const Instance& instance, const Event& event);

}  // namespace landtrace::domain
