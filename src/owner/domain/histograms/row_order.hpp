// The order of a histogram's entries.
#pragma once

#include <span>
#include <vector>

#include "domain/histograms/histogram.hpp"
#include "hist/reader.hpp"

namespace landtrace::domain {

// `rows` in the order of their keys' bytes.
std::vector<const hist::Row*> rows_in_order(const Histogram& histogram, std::span<const hist::Row> rows);

}  // namespace landtrace::domain
