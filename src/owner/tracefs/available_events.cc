#include "tracefs/available_events.hpp"

namespace landtrace::tracefs {

Result<std::string> AvailableEvents::text() {
  std::string text;
  for (const domain::Event* const event : instance_->events()) {
    text.append(event->system).append(1, ':').append(event->name).append(1, '\n');
  }
  return text;
}

}  // namespace landtrace::tracefs
