// The order of a histogram's entries.
#pragma once

#include <cstdint>
#include <vector>

#include "rules/histograms/histogram.hpp"
#include "language/histogram/table_rows.hpp"

namespace landtrace::rules {

// Their numbers. `rows` are in the order of their keys' bytes. Rows that compare equal come as the kernel has them,
// where it can have so many; where it cannot, as they are.
std::vector<std::uint32_t> rows_in_order(const Histogram& histogram, const language::TableRows& rows);

}  // namespace landtrace::rules
