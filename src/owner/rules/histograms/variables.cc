#include "rules/histograms/variables.hpp"

namespace landtrace::rules {
namespace {

std::optional<FoundVariable> of_histogram(const HistogramPtr& histogram, const Histogram& fields,
                                          std::string_view name) {
  for (std::size_t i = 0; i < fields.variables.size(); ++i) {
    if (fields.variables[i]->variable == name) return FoundVariable{histogram, i, fields.variables[i]};
  }
  return std::nullopt;
}

}  // namespace

std::vector<HistogramPtr> histograms_of(const Event& event, const Instance& instance) {
  std::vector<HistogramPtr> all;
  const FileRules* const file = find_rules(event, instance);
  if (file == nullptr) return all;
  for (const EventTrigger& trigger : file->triggers) {
    if (trigger.histogram) all.push_back(trigger.histogram);
  }
  return all;
}

std::optional<FoundVariable> Variables::of_event(const Event& event, const Instance& instance, std::string_view name) {
  for (const HistogramPtr& histogram : histograms_of(event, instance)) {
    if (auto found = of_histogram(histogram, *histogram, name)) return found;
  }
  return std::nullopt;
}

bool Variables::is_taken(std::string_view name) const {
  return own_.variable(name) != nullptr || of_event(event_, instance_, name).has_value();
}

std::optional<FoundVariable> Variables::find_own(std::string_view system, std::string_view event,
                                                 std::string_view name) const {
  if (!system.empty() && (system != own_.system || event != own_.event)) return std::nullopt;
  return of_histogram(nullptr, own_, name);
}

std::optional<FoundVariable> Variables::find(std::string_view system, std::string_view event,
                                             std::string_view name) const {
  if (!system.empty()) {
    const Event* const named = event_named(system, event);
    return named == nullptr ? std::nullopt : of_event(*named, instance_, name);
  }
  std::optional<FoundVariable> found;
  switch (find_matched(name, found)) {
    case Search::kFound:
      return found;
    case Search::kAmbiguous:
      return std::nullopt;
    case Search::kNone:
      break;
  }
  return find_anywhere(name);
}

Variables::Search Variables::find_matched(std::string_view name, std::optional<FoundVariable>& found) const {
  for (const HistogramAction& action : own_.actions) {
    if (action.text.handler != hist::Handler::kOnMatch) continue;
    const Event* const matched = event_named(action.text.match_system, action.text.match_event);
    auto here = matched == nullptr ? std::nullopt : of_event(*matched, instance_, name);
    if (!here) continue;
    if (found) {
      complaints_.add(language::HistMistake::kVariableNotUnique, name);
      return Search::kAmbiguous;
    }
    found = std::move(here);
  }
  return found ? Search::kFound : Search::kNone;
}

std::optional<FoundVariable> Variables::find_anywhere(std::string_view name) const {
  std::optional<FoundVariable> found;
  for (const Event* const event : events_.all_and_print()) {
    auto here = of_event(*event, instance_, name);
    if (!here) continue;
    if (found) {
      complaints_.add(language::HistMistake::kVariableNotUnique, name);
      return std::nullopt;
    }
    found = std::move(here);
  }
  return found;
}

}  // namespace landtrace::rules
