// Triggers of events in an instance: section 6 of the kernel's "Event Tracing". They act in the producers; here they are set
// up and taken away. Who calls these holds the domain.
#pragma once

#include <optional>
#include <string>

#include "domain/domain.hpp"
#include "rules/refused_trigger.hpp"
#include "language/histogram/mistakes.hpp"
#include "language/trigger/command.hpp"

namespace landtrace::rules {

// What was written to the event's `trigger` file: a trigger to be added, or one to be removed, which need not be there.
// EINVAL, ERANGE for what is no trigger of this event, EEXIST where it has one of the family, ENOSPC, ENOMEM. Of a histogram
// also ENOENT, EBUSY, EDOM; what the kernel would log about it is in `complaints`, be it taken or not.
tl::expected<void, RefusedTrigger> apply_trigger(Domain& domain, Instance& instance, Event& event,
                                                 std::string_view command,
                                                 language::HistComplaints* complaints = nullptr);
// The file is opened to be written anew: histograms go, unless others use their variables, and triggers that switch
// histograms; the others stay.
void truncate_triggers(Domain& domain, Instance& instance, Event& event);
void remove_all_triggers(Domain& domain, Instance& instance, Event& event);

// Filters of triggers that look for functions find them anew.
void refresh_trigger_functions(Domain& domain, Instance& instance, Event& event);

// What the file says.
std::string triggers_text(const Domain& domain, const Instance& instance, const Event& event);

}  // namespace landtrace::rules
