// What `landtrace latency` asks for: the first event leaves its time under its key; the second takes it, and makes a
// synthetic event of the difference, which has the histogram.
#pragma once

#include "cli/histogram/watch_options.hpp"
#include "output/record.hpp"

namespace landtrace::cli {

struct LatencyOptions : WatchOptions {
  std::string from;
  std::string to;
  std::string key;
  std::string to_key;
  std::vector<std::string> by;
};

inline constexpr const char* kLatencyField = "latency_ns";

// The trigger of the first event.
std::string start_trigger(const LatencyOptions& options);
// The second event's, which makes the synthetic event `name`.
std::string end_trigger(const LatencyOptions& options, const std::string& name);
// The synthetic event's.
std::string spread_trigger(const LatencyOptions& options);
// The definition of the synthetic event, with the fields of --by as `to` declares them. EINVAL for a field that it
// does not have.
Result<std::string> definition_of(const LatencyOptions& options, const std::string& name, const output::EventType& to);

}  // namespace landtrace::cli
