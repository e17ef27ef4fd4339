// What `landtrace hist` asks for: a histogram trigger, and how its rows are shown.
#pragma once

#include "cli/histogram/view.hpp"
#include "cli/histogram/watch_options.hpp"
#include "output/record.hpp"

namespace landtrace::cli {

struct HistOptions : WatchOptions {
  std::string event;
  std::string probe;  // of -p, instead of an event
  std::vector<std::string> keys;
  std::vector<std::string> vals;
};

// EINVAL for keys and values that no histogram can have together.
Result<HistShape> shape_of(const HistOptions& options);
std::string trigger_of(const HistOptions& options, const HistShape& shape);
// EINVAL with a sentence and the place where the event has no such field, or the filter does not fit it.
Result<void> check_fits(const HistOptions& options, const output::EventType& type);

}  // namespace landtrace::cli
