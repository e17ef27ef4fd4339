#include "tracefs/events/system_filter.hpp"

#include "tracefs/context.hpp"
#include "tracefs/events/filter_errors.hpp"

namespace landtrace::tracefs {

Result<std::string> SystemFilter::text() { return language::subsystem_filter_text(); }

Result<std::size_t> SystemFilter::store(const Caller&, std::string_view bytes) {
  if (bytes.empty()) return 0;
  LT_TRY(domain::Instance* const instance, instance_->get());
  LT_TRY(const language::WrittenFilter written, filter_in(bytes));
  rules::Filters& filters = instance_->context.rules.filters();
  for (domain::Event* const event : select(*instance_, system_)) {
    if (written.clears) {
      filters.clear(*instance, *event);
      continue;
    }
    // As in the kernel, an event that the filter does not fit loses its own filter, and shows the error instead.
    const auto set = filters.set(*instance, *event, written.expression, language::kBadSubsystemFilter);
    if (!set) std::ignore = refuse_filter(*instance_, written.expression, language::kBadSubsystemFilter);
  }
  instance_->context.domain.grace().settle();
  return bytes.size();
}

}  // namespace landtrace::tracefs
