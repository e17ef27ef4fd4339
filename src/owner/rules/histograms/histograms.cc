#include "rules/histograms/histograms.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/input.hpp"
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
  if (gone.holds_snapshot) release_snapshot(instance);
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

language::TableContents Histograms::contents_of(const EventTrigger& trigger) const {
  std::vector<std::byte*> segments;
  for (const User& user : users_.all()) segments.push_back(user.mapping.data());
  return language::read_tables(*reinterpret_cast<const hist::HistPlan*>(control_.at(trigger.plan)), segments);
}

std::string Histograms::text(const FileRules& file, const EventTrigger& trigger, AddressNames& names) const {
  const language::TableContents contents = contents_of(trigger);
  return fmt::format(
      "# event histogram\n#\n# trigger info: {}#\n\n"
      "{}"
      "\nTotals:\n    Hits: {}\n    Entries: {}\n    Dropped: {}\n",
      line(file, trigger), entries_text(*trigger.histogram, contents, names), contents.hits, contents.rows.size(),
      contents.dropped);
}

std::string Histograms::text(const Instance& instance, const Event& event, AddressNames& names) const {
  std::string whole;
  for_each_histogram_of(instance, event, [&](const FileRules& file, const EventTrigger& trigger) {
    if (!whole.empty()) whole += "\n\n";
    whole += text(file, trigger, names);
  });
  return whole;
}

std::vector<ipc::HistogramTable> Histograms::tables(const Instance& instance, const Event& event,
                                                    AddressNames& names) const {
  std::vector<ipc::HistogramTable> tables;
  for_each_histogram_of(instance, event, [&](const FileRules& file, const EventTrigger& trigger) {
    tables.push_back(table_of(*trigger.histogram, contents_of(trigger), names));
    tables.back().trigger = trimmed(line(file, trigger));
  });
  return tables;
}

}  // namespace landtrace::rules
