// The order of a histogram's entries.
#pragma once

#include <span>
#include <vector>

#include "rules/histograms/histogram.hpp"
#include "language/histogram/table_reader.hpp"

namespace landtrace::rules {

// `rows` in the order of their keys' bytes.
std::vector<const language::TableRow*> rows_in_order(const Histogram& histogram,
                                                     std::span<const language::TableRow> rows);

}  // namespace landtrace::rules
