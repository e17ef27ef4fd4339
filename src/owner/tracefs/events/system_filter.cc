#include "tracefs/events/system_filter.hpp"

#include "rules/filters.hpp"
#include "tracefs/context.hpp"
#include "tracefs/events/filter_errors.hpp"

namespace landtrace::tracefs {

Result<std::string> SystemFilter::text() { return language::subsystem_filter_text(); }

Result<std::size_t> SystemFilter::store(const Caller&, std::string_view bytes) {
  if (bytes.empty()) return 0;
  LT_TRY(domain::Instance* const instance, instance_->get());
  LT_TRY(const language::WrittenFilter written, filter_in(bytes));
  domain::Domain& domain = instance_->context.domain;
  for (domain::Event* const event : select(*instance_, system_)) {
    if (written.clears) {
      rules::clear_filter(domain, *instance, *event);
      continue;
    }
    // As in the kernel, an event that the filter does not fit loses its own filter, and shows the error instead.
    const auto set = rules::set_filter(domain, *instance, *event, written.expression, language::kBadSubsystemFilter);
    if (!set) std::ignore = refuse_filter(*instance_, written.expression, language::kBadSubsystemFilter);
  }
  domain.settle();
  return bytes.size();
}

}  // namespace landtrace::tracefs
