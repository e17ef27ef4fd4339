// Histograms among all that there are.
#pragma once

#include <functional>
#include <string>

#include "rules/file_rules.hpp"
#include "rules/histograms/histogram.hpp"

namespace landtrace::rules {

using SeeHistogram = std::function<void(std::uint32_t instance, EventTrigger& trigger)>;
void for_each_histogram(Events& events, const SeeHistogram& see);

// One that has the name; nullptr: none, or the name is "".
const Histogram* find_named(Events& events, const std::string& name);
// Whether the histogram counts in the table, or refers to a variable in it.
bool needs_table(const Histogram& histogram, const HistogramTable& table);
// Whether another refers to a variable of the histogram.
bool is_used(Events& events, const Histogram& histogram);
// Whether a histogram of the instance has variables, or refers to some: the kernel keeps the instance for them.
bool has_variables(Events& events, std::uint32_t instance);

}  // namespace landtrace::rules
