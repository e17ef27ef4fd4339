#include "tracefs/events/event_trigger.hpp"

namespace landtrace::tracefs {

Result<std::string> EventTrigger::text() {
  LT_TRY([[maybe_unused]] const domain::Event* const event, event_.get());
  return kAvailable;
}

Result<std::size_t> EventTrigger::store(const Caller&, std::string_view bytes) {
  LT_TRY([[maybe_unused]] const domain::Event* const event, event_.get());
  if (!bytes.empty()) return fail(EINVAL, "events of this domain have no triggers");
  return 0;
}

}  // namespace landtrace::tracefs
