// What `landtrace hist` asks for: a histogram trigger, and how its rows are shown.
#pragma once

#include "cli/histogram/view.hpp"
#include "cli/histogram/watch_options.hpp"

namespace landtrace::cli {

struct HistOptions : WatchOptions {
  std::string event;
  std::vector<std::string> keys;
  std::vector<std::string> vals;
};

// EINVAL for keys and values that no histogram can have together.
Result<HistShape> shape_of(const HistOptions& options);
std::string trigger_of(const HistOptions& options, const HistShape& shape);

}  // namespace landtrace::cli
