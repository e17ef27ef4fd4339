// What to say of events that the user named and that were never there: a mistyped name must not look like an event that
// did not happen.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "event/pattern.hpp"
#include "output/record.hpp"

namespace landtrace::cli {

struct EventName {
  std::string system;
  std::string name;
};

// Of any container of output::EventType, without those that every domain has.
template <typename Types>
std::vector<EventName> names_of(const Types& types) {
  std::vector<EventName> names;
  for (const output::EventType& type : types) {
    if (type.system != "ftrace") names.push_back({type.system, type.name});
  }
  return names;
}

// Whether it names one event, or one system: without * and the like.
bool is_name(const event::Pattern& pattern);

// Those that match none of the events.
std::vector<event::Pattern> unmatched(const std::vector<event::Pattern>& patterns,
                                      const std::vector<EventName>& events);

// Complains of each pattern that matches none of the events; "no event registered" where there is none at all, with
// `why_none` behind it. False: one of these patterns is a name.
bool complain_of_missing(const std::vector<event::Pattern>& patterns, const std::vector<EventName>& events,
                         const std::string& why_none);

// The same of a recording, whose types are a map by id: "FILE has no event 'jbo'; did you mean …".
bool has_what_was_named(const std::vector<event::Pattern>& patterns,
                        const std::map<std::uint16_t, output::EventType>& types, const std::string& file);

// "no event 'jbo' registered", "no event registered that matches 'j*'".
std::string missing_text(const event::Pattern& pattern);

// What the user might have meant, or else what there is: "; did you mean user_events:job?", "; there is user_events:a
// and user_events:b", "; there is none at all".
std::string instead_text(const event::Pattern& pattern, const std::vector<EventName>& events);

}  // namespace landtrace::cli
