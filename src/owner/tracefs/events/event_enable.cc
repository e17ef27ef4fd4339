#include "tracefs/events/event_enable.hpp"

#include "tracefs/events/switch.hpp"

namespace landtrace::tracefs {

Result<std::string> EventEnable::text() {
  LT_TRY(const domain::Event* const event, event_.get());
  LT_TRY(const domain::Instance* const instance, event_.instance->get());
  const domain::EventFile* const file = event->file(instance->index);
  std::string text = event_.instance->context.domain.listening().is_recorded(*instance, *event) ? "1" : "0";
  if (file != nullptr && file->in_soft_mode()) text += '*';
  return text + '\n';
}

Result<std::size_t> EventEnable::store(const Caller&, std::string_view bytes) {
  LT_TRY(const bool on, switch_in(bytes));
  LT_TRY(domain::Instance* const instance, event_.instance->get());
  LT_TRY(domain::Event* const event, event_.get());
  LT_CHECK(event_.instance->context.domain.listening().set(*instance, {event}, on));
  return bytes.size();
}

}  // namespace landtrace::tracefs
