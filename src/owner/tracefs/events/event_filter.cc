#include "tracefs/events/event_filter.hpp"

#include "rules/filters.hpp"
#include "language/filter/text.hpp"
#include "tracefs/events/filter_errors.hpp"

namespace landtrace::tracefs {

Result<std::string> EventFilter::text() {
  LT_TRY(const domain::Event* const event, event_.get());
  const domain::EventFile* const file = event->file(event_.instance->index);
  const domain::EventFilter now = file == nullptr ? domain::EventFilter() : file->filter;
  if (now.failure) return language::failed_filter_text(now.expression, *now.failure);
  return now.program == 0 ? language::no_filter_text() : language::filter_text(now.expression);
}

Result<std::size_t> EventFilter::store(const Caller&, std::string_view bytes) {
  LT_TRY(domain::Event* const event, event_.get());
  LT_TRY(domain::Instance* const instance, event_.instance->get());
  LT_TRY(const language::WrittenFilter written, filter_in(bytes));
  domain::Domain& domain = event_.instance->context.domain;
  if (written.clears) {
    rules::clear_filter(domain, *instance, *event);
  } else if (const auto set = rules::set_filter(domain, *instance, *event, written.expression); !set) {
    return refuse_filter(*event_.instance, written.expression, set.error());
  }
  domain.settle();
  return bytes.size();
}

}  // namespace landtrace::tracefs
