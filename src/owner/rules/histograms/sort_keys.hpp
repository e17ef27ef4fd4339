// What a histogram's entries are sorted by.
#pragma once

#include "rules/histograms/histogram.hpp"

namespace landtrace::rules {

// Of the attributes; at least the hit count. EINVAL.
Result<std::vector<HistogramSortKey>> find_sort_keys(const Histogram& histogram, language::HistComplaints& complaints);

}  // namespace landtrace::rules
