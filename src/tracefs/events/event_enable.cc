#include "tracefs/events/event_enable.hpp"

#include "tracefs/events/switch.hpp"

namespace landtrace::tracefs {

Result<std::string> EventEnable::text() {
  LT_TRY(const domain::Event* const event, event_.get());
  return event->listeners[event_.instance->index] ? "1\n" : "0\n";
}

Result<std::size_t> EventEnable::store(const Caller&, std::string_view bytes) {
  LT_TRY(const bool on, switch_in(bytes));
  LT_TRY(domain::Instance* const instance, event_.instance->get());
  LT_TRY(domain::Event* const event, event_.get());
  LT_CHECK(event_.instance->context.domain.listen(*instance, {event}, on));
  return bytes.size();
}

}  // namespace landtrace::tracefs
