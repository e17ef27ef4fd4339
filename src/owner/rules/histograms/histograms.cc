#include "rules/histograms/histograms.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rules/histograms/line.hpp"
#include "rules/histograms/search.hpp"
#include "rules/histograms/variables.hpp"
#include "rules/snapshots.hpp"

namespace landtrace::rules {
namespace {

// visit(file, trigger) for the histograms of an event in their order.
template <typename Visit>
void for_each_histogram_of(const Instance& instance, const Event& event, const Visit& visit) {
  const FileRules* const file = find_rules(event, instance);
  if (file == nullptr) return;
  for (const EventTrigger& trigger : file->triggers) {
    if (trigger.histogram) visit(*file, trigger);
  }
}

}  // namespace

bool Histograms::are_variables_used(const Instance& instance, const Event& event) const {
  const auto histograms = histograms_of(event, instance);
  return std::any_of(histograms.begin(), histograms.end(),
                     [&](const HistogramPtr& histogram) { return is_used(parts_.events, *histogram); });
}

void Histograms::let_go_of(Instance& instance, const Histogram& gone) {
  for (const std::uint32_t slot : gone.held_events) parts_.events.drop_reference(slot);
  if (gone.holds_snapshot) {
    instance.snapshot_is_kept = false;
    release_snapshot(instance);
  }
  for (const HiddenHistogram& hidden : gone.hidden) {
    Event* const event = parts_.events.at(hidden.event_slot);
    if (event == nullptr || event->serial != hidden.event_serial) continue;
    language::TriggerCommand command;
    command.kind = language::TriggerKind::kHist;
    command.removes = true;
    command.definition = hidden.command;
    language::HistComplaints unheard;
    const Events::Hold hold(parts_.events, *event);
    std::ignore = apply(instance, *event, command, unheard);
  }
}

bool Histograms::has_any(const Instance& instance, const Event& event) {
  return !histograms_of(event, instance).empty();
}

std::string Histograms::line(const FileRules& file, const EventTrigger& trigger) const {
  std::string text = definition_text(*trigger.histogram);
  if (!trigger.filter.empty()) text += " if " + trigger.filter;
  const bool is_paused = parts_.cells.is_thrown(trigger.pause, file.hist_switch);
  return text + (is_paused ? " [paused]\n" : " [active]\n");
}

HistogramReading Histograms::reading(const Instance& instance, const Event& event) const {
  HistogramReading reading;
  for (const User& user : users_.all()) reading.segments.push_back(user.mapping.data());
  for_each_histogram_of(instance, event, [&](const FileRules& file, const EventTrigger& trigger) {
    const auto* const plan = reinterpret_cast<const hist::HistPlan*>(control_.at(trigger.plan));
    const auto* const words = reinterpret_cast<const std::uint64_t*>(plan);
    reading.histograms.push_back({trigger.histogram,
                                  trigger.histogram->table->range,
                                  {words, words + (plan->bytes + sizeof *words - 1) / sizeof *words},
                                  line(file, trigger)});
  });
  return reading;
}

std::string Histograms::text(const Instance& instance, const Event& event, AddressNames& names) const {
  return text_of(reading(instance, event), names);
}

}  // namespace landtrace::rules
