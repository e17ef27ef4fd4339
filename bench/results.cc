#include "results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace landtrace::bench {

bool Results::ReportContext(const Context&) { return true; }

void Results::take(const Run& run) {
  const std::string& name = run.run_name.function_name;
  if (run.error_occurred) {
    failures_.push_back(fmt::format("{}: {}", name, run.error_message));
    return;
  }
  const auto value = run.counters.find(kValue);
  samples_[name].push_back(value == run.counters.end() ? run.GetAdjustedCPUTime() : value->second.value);
  for (const auto& [counter, number] : run.counters) {
    if (counter != kValue) samples_[fmt::format("{}/{}", name, counter)].push_back(number.value);
  }
}

void Results::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.run_type == Run::RT_Iteration) take(run);
  }
}

std::optional<double> Results::median(const std::string& name) const {
  const auto found = samples_.find(name);
  if (found == samples_.end()) return std::nullopt;
  std::vector<double> sorted = found->second;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

std::optional<double> Results::median(const std::string& name, const std::string& counter) const {
  return median(fmt::format("{}/{}", name, counter));
}

double Results::largest(const std::string& name) const {
  const auto found = samples_.find(name);
  return found == samples_.end() ? 0 : *std::max_element(found->second.begin(), found->second.end());
}

double Results::sum(const std::string& name, const std::string& counter) const {
  const auto found = samples_.find(fmt::format("{}/{}", name, counter));
  return found == samples_.end() ? 0 : std::accumulate(found->second.begin(), found->second.end(), 0.0);
}

}  // namespace landtrace::bench
