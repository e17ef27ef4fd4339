#include "domain/event_file.hpp"

#include <algorithm>

namespace landtrace::domain {

bool is_conditional(const std::vector<EventTrigger>& triggers) {
  return std::any_of(triggers.begin(), triggers.end(), [](const EventTrigger& trigger) {
    return !trigger.filter.empty() || trigger.command.kind == language::TriggerKind::kTraceOff ||
           trigger.command.kind == language::TriggerKind::kStackTrace ||
           trigger.command.kind == language::TriggerKind::kHist;
  });
}

}  // namespace landtrace::domain
