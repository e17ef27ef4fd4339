// The tables and plans of histograms: made, renewed, and who uses them.
#pragma once

#include <functional>

#include "domain/domain.hpp"
#include "rules/histograms/histogram.hpp"

namespace landtrace::rules {

using SeeHistogram = std::function<void(Instance& instance, Event& event, EventTrigger& trigger)>;
void for_each_histogram(Domain& domain, const SeeHistogram& see);

// One that has the name; nullptr: none, or the name is "".
const Histogram* find_named(Domain& domain, const std::string& name);
// Whether another refers to a variable of the histogram.
bool is_used(Domain& domain, const Histogram& histogram);

// Whether a histogram of the instance has variables, or refers to some: the kernel keeps the instance for them.
bool has_variables(Domain& domain, std::uint32_t instance);

// Gives the histogram a table: that of `named`, if there is one, whose size and ways it has then. EINVAL, ENOMEM.
Result<void> take_table(Domain& domain, const Instance& instance, Histogram& histogram, const Histogram* named);
// An empty one in its place. Producers fill the old one until their plans are republished.
Result<void> renew_table(Domain& domain, const Histogram& histogram);

// The HistPlan, in the control segment. ENOMEM.
Result<std::uint32_t> store_plan(Domain& domain, const Instance& instance, const Histogram& histogram,
                                 std::uint32_t pause, std::uint32_t event_pause);
// All that count in the table or refer to it have plans with the table as it is now.
Result<void> republish_users(Domain& domain, HistogramTable& table);

}  // namespace landtrace::rules
