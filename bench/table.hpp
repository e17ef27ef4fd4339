// How the result of a run is printed.
#pragma once

#include "rows.hpp"

namespace landtrace::bench {

std::string table_text(const std::vector<Row>& rows, const Setting& setting);
std::string json_text(const std::vector<Row>& rows, const Results& results);

}  // namespace landtrace::bench
