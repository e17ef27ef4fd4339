#include "tracefs/events/system_filter.hpp"

#include "tracefs/words.hpp"

namespace landtrace::tracefs {

// What the transcripts have (20-filter).
Result<std::string> SystemFilter::text() {
  return "### global filter ###\n"
         "# Use this to set filters for multiple events.\n"
         "# Only events with the given fields will be affected.\n"
         "# If no events are modified, an error message will be displayed here\n";
}

Result<std::size_t> SystemFilter::store(const Caller&, std::string_view bytes) {
  if (!bytes.empty() && trimmed(until_nul(bytes)) != "0") return fail(EINVAL, "events of this domain have no filters");
  return bytes.size();
}

}  // namespace landtrace::tracefs
