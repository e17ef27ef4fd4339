// What a recording wants of the events that match a pattern, now and as they register.
#pragma once

#include <string>
#include <vector>

#include "domain/pattern.hpp"

namespace landtrace::rules {

struct Selection {
  Pattern pattern;
  std::string filter;                 // "" none
  std::vector<std::string> triggers;  // as a `trigger` file takes them
};

// A filter that judges nothing of an event, or a trigger that it does not have, and why.
struct Unfit {
  std::string event;  // SYSTEM:EVENT
  std::string rule;   // the filter, or the trigger
  bool is_trigger;
  std::string reason;
};

// EINVAL for a filter or a trigger that is none, whatever the event. (One that takes a trigger away is none here.)
Result<void> check_rules(const Selection& selection);

}  // namespace landtrace::rules
