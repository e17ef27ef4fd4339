#include "rules/histograms/search.hpp"

#include <algorithm>

namespace landtrace::rules {
namespace {

bool refers_to(const Histogram& histogram, const HistogramTable& table) {
  return std::any_of(histogram.references.begin(), histogram.references.end(),
                     [&](const FieldPtr& reference) { return reference->table.get() == &table; });
}

}  // namespace

void for_each_histogram(Events& events, const SeeHistogram& see) {
  for (const Event* const event : events.all_and_print()) {
    for (const auto& [instance, file] : event->files.all()) {
      auto* const rules = static_cast<FileRules*>(file.rules.get());
      if (rules == nullptr) continue;
      for (EventTrigger& trigger : rules->triggers) {
        if (trigger.histogram) see(instance, trigger);
      }
    }
  }
}

const Histogram* find_named(Events& events, const std::string& name) {
  const Histogram* found = nullptr;
  if (name.empty()) return found;
  for_each_histogram(events, [&](std::uint32_t, EventTrigger& trigger) {
    if (found == nullptr && trigger.histogram->attributes.name == name) found = trigger.histogram.get();
  });
  return found;
}

bool needs_table(const Histogram& histogram, const HistogramTable& table) {
  return histogram.table.get() == &table || refers_to(histogram, table);
}

bool is_used(Events& events, const Histogram& histogram) {
  bool is_used = false;
  for_each_histogram(events, [&](std::uint32_t, EventTrigger& trigger) {
    const bool is_another = trigger.histogram.get() != &histogram;
    if (is_another && histogram.table && refers_to(*trigger.histogram, *histogram.table)) is_used = true;
  });
  return is_used;
}

bool has_variables(Events& events, std::uint32_t instance) {
  bool has = false;
  for_each_histogram(events, [&](std::uint32_t at, EventTrigger& trigger) {
    const Histogram& histogram = *trigger.histogram;
    if (at == instance && !(histogram.variables.empty() && histogram.references.empty())) has = true;
  });
  return has;
}

}  // namespace landtrace::rules
