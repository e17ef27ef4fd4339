// What a histogram's entries are sorted by.
#pragma once

#include "domain/histograms/histogram.hpp"

namespace landtrace::domain {

// Of the attributes; at least the hit count. EINVAL.
Result<std::vector<HistogramSortKey>> find_sort_keys(const Histogram& histogram, language::HistComplaints& complaints);

}  // namespace landtrace::domain
