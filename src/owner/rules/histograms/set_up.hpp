// A command about a histogram carried out: it is made, changed or taken away.
#pragma once

#include "rules/filters.hpp"
#include "rules/histograms/tables.hpp"
#include "rules/refused_trigger.hpp"
#include "rules/trigger_list.hpp"

namespace landtrace::rules {

// What that takes.
struct HistogramParts {
  Events& events;
  Cells& cells;
  Grace& grace;
  Filters& filters;
  TriggerLists& lists;
  HistogramTables& tables;
};

// A command of kind kHist. EINVAL, ENOENT, EEXIST, EBUSY, ERANGE, EDOM, ENOMEM.
tl::expected<void, RefusedTrigger> set_up_histogram(const HistogramParts& parts, Instance& instance, Event& event,
                                                    const language::TriggerCommand& command,
                                                    language::HistComplaints& complaints);

}  // namespace landtrace::rules
