#include "cli/missing_events.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/failure.hpp"
#include "cli/near_names.hpp"

namespace landtrace::cli {
namespace {

constexpr std::size_t kMostNames = 10;

std::string full_name(const EventName& event) { return event.system + ":" + event.name; }

bool matches_any(const event::Pattern& pattern, const std::vector<EventName>& events) {
  return std::any_of(events.begin(), events.end(),
                     [&](const EventName& event) { return pattern.matches(event.system, event.name); });
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

// The full names of events whose name is near, in whatever system; else the systems that are.
std::vector<std::string> near_events(const std::string& text, const std::vector<EventName>& events) {
  const std::size_t colon = text.find(':');
  const std::string name = colon == std::string::npos ? text : text.substr(colon + 1);
  std::vector<std::string> bare, systems;
  for (const EventName& event : events) {
    add_once(bare, event.name);
    add_once(systems, event.system);
  }
  std::vector<std::string> nearest;
  for (const std::string& near : near_names(name == "*" ? "" : name, bare)) {
    for (const EventName& event : events) {
      if (event.name == near) add_once(nearest, full_name(event));
    }
  }
  const std::string system = text.substr(0, colon);
  if (nearest.empty() && std::find(systems.begin(), systems.end(), system) == systems.end()) {
    for (const std::string& near : near_names(system, systems)) nearest.push_back(near + ":*");
  }
  return nearest;
}

std::string list_text(const std::vector<EventName>& events) {
  std::vector<std::string> names;
  for (const EventName& event : events) add_once(names, full_name(event));
  std::sort(names.begin(), names.end());
  if (names.size() > kMostNames) {
    const std::size_t more = names.size() - kMostNames + 1;
    names.resize(kMostNames - 1);
    return fmt::format("{} and {} more", fmt::join(names, ", "), more);
  }
  const std::string last = names.back();
  names.pop_back();
  return names.empty() ? last : fmt::format("{} and {}", fmt::join(names, ", "), last);
}

}  // namespace

bool is_name(const event::Pattern& pattern) { return pattern.text().find_first_of("*?[\\") == std::string::npos; }

std::vector<event::Pattern> unmatched(const std::vector<event::Pattern>& patterns,
                                      const std::vector<EventName>& events) {
  std::vector<event::Pattern> missing;
  for (const event::Pattern& pattern : patterns) {
    if (!matches_any(pattern, events)) missing.push_back(pattern);
  }
  return missing;
}

bool complain_of_missing(const std::vector<event::Pattern>& patterns, const std::vector<EventName>& events,
                         const std::string& why_none) {
  const std::vector<event::Pattern> missing = unmatched(patterns, events);
  if (events.empty() && !missing.empty()) complain("no event registered" + why_none);
  for (const event::Pattern& pattern : missing) {
    if (!events.empty()) complain(missing_text(pattern) + instead_text(pattern, events));
  }
  return std::none_of(missing.begin(), missing.end(), is_name);
}

std::string missing_text(const event::Pattern& pattern) {
  return is_name(pattern) ? fmt::format("no event '{}' registered", pattern.text())
                          : fmt::format("no event registered that matches '{}'", pattern.text());
}

std::string instead_text(const event::Pattern& pattern, const std::vector<EventName>& events) {
  if (events.empty()) return "; there is none at all";
  std::vector<std::string> nearest = near_events(pattern.text(), events);
  if (nearest.empty()) return "; there is " + list_text(events);
  constexpr std::size_t kMostNear = 3;
  nearest.resize(std::min(nearest.size(), kMostNear));
  return fmt::format("; did you mean {}?", alternatives(nearest));
}

bool has_what_was_named(const std::vector<event::Pattern>& patterns,
                        const std::map<std::uint16_t, output::EventType>& types, const std::string& file) {
  std::vector<EventName> all, interesting;
  for (const auto& [id, type] : types) {
    all.push_back({type.system, type.name});
    if (type.system != "ftrace") interesting.push_back(all.back());  // these are in every file of trace-cmd
  }
  const std::vector<event::Pattern> missing = unmatched(patterns, all);
  for (const event::Pattern& pattern : missing) {
    complain(fmt::format("{} has no event {}'{}'{}", file, is_name(pattern) ? "" : "that matches ", pattern.text(),
                         instead_text(pattern, interesting)));
  }
  return std::none_of(missing.begin(), missing.end(), is_name);
}

}  // namespace landtrace::cli
