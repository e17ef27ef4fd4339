#include "reader/event_filter.hpp"

namespace landtrace::reader {

Result<EventFilter> EventFilter::parse(const std::vector<std::string>& patterns) {
  EventFilter filter;
  for (const std::string& text : patterns) {
    LT_TRY(event::Pattern pattern, event::Pattern::parse(text));
    filter.patterns_.push_back(std::move(pattern));
  }
  return filter;
}

bool EventFilter::wants(const output::EventType& type) const {
  return patterns_.empty() || std::any_of(patterns_.begin(), patterns_.end(), [&](const event::Pattern& pattern) {
           return pattern.matches(type.system, type.name);
         });
}

}  // namespace landtrace::reader
