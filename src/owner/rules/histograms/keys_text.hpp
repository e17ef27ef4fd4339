// The key of an entry as the hist file shows it: "{ id:          1, name: abc }".
#pragma once

#include <string>

#include "rules/histograms/histogram.hpp"
#include "ipc/histogram_table.hpp"

namespace landtrace::rules {

// What stands behind the name of one key, with the file's padding; of a stack, a line for each frame.
std::string value_text(const ipc::HistogramKey& key, const ipc::HistogramKeyValue& value);

std::string key_text(const Histogram& histogram, const std::vector<ipc::HistogramKeyValue>& values);

}  // namespace landtrace::rules
