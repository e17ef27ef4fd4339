#include "tracefs/events/event_filter.hpp"

#include "tracefs/words.hpp"

namespace landtrace::tracefs {

Result<std::string> EventFilter::text() {
  LT_TRY([[maybe_unused]] const domain::Event* const event, event_.get());
  return "none\n";
}

Result<std::size_t> EventFilter::store(const Caller&, std::string_view bytes) {
  LT_TRY([[maybe_unused]] const domain::Event* const event, event_.get());
  if (trimmed(until_nul(bytes)) != "0") return fail(EINVAL, "events of this domain have no filters");
  return bytes.size();
}

}  // namespace landtrace::tracefs
