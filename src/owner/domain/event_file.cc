#include "domain/event_file.hpp"

#include <algorithm>

namespace landtrace::domain {

bool is_conditional(const std::vector<EventTrigger>& triggers) {
  return std::any_of(triggers.begin(), triggers.end(), [](const EventTrigger& trigger) {
    return !trigger.filter.empty() || trigger.command.kind == trigger::Kind::kTraceOff ||
           trigger.command.kind == trigger::Kind::kStackTrace || trigger.command.kind == trigger::Kind::kHist;
  });
}

}  // namespace landtrace::domain
