// Histograms among an event's triggers: made, changed and taken away by commands.
#pragma once

#include "domain/domain.hpp"
#include "rules/histograms/histogram.hpp"
#include "rules/refused_trigger.hpp"

namespace landtrace::rules {

// A command of kind kHist. EINVAL, ENOENT, EEXIST, EBUSY, ERANGE, EDOM, ENOMEM.
tl::expected<void, RefusedTrigger> apply_histogram(Domain& domain, Instance& instance, Event& event,
                                                   const language::TriggerCommand& command,
                                                   language::HistComplaints& complaints);

// Whether a histogram of the event has variables that others use.
bool are_variables_used(Domain& domain, const Instance& instance, const Event& event);
// What a histogram holds that is in no list any more: synthetic events, snapshots, histograms on other events.
void let_go_of(Domain& domain, Instance& instance, const Histogram& gone);

bool is_paused(const Domain& domain, const EventFile& file, const EventTrigger& trigger);
// As the trigger file shows it, and the head of the hist file.
std::string histogram_line(const Domain& domain, const EventFile& file, const EventTrigger& trigger);

}  // namespace landtrace::rules
