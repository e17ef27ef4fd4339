#include "tracefs/events/event_filter.hpp"

#include "language/filter/text.hpp"
#include "rules/file_rules.hpp"
#include "tracefs/context.hpp"
#include "tracefs/events/filter_errors.hpp"

namespace landtrace::tracefs {

Result<std::string> EventFilter::text() {
  LT_TRY(const domain::Event* const event, event_.get());
  LT_TRY(const domain::Instance* const instance, event_.instance->get());
  const rules::FileRules* const rules = rules::find_rules(*event, *instance);
  if (rules == nullptr) return language::no_filter_text();
  const rules::EventFilter& now = rules->filter;
  if (now.failure) return language::failed_filter_text(now.expression, *now.failure);
  return event->file(instance->index)->filter_program == 0 ? language::no_filter_text()
                                                           : language::filter_text(now.expression);
}

Result<std::size_t> EventFilter::store(const Caller&, std::string_view bytes) {
  LT_TRY(domain::Event* const event, event_.get());
  LT_TRY(domain::Instance* const instance, event_.instance->get());
  LT_TRY(const language::WrittenFilter written, filter_in(bytes));
  Context& context = event_.instance->context;
  if (written.clears) {
    context.rules.filters().clear(*instance, *event);
  } else if (const auto set = context.rules.filters().set(*instance, *event, written.expression); !set) {
    return refuse_filter(*event_.instance, written.expression, set.error());
  }
  context.domain.grace().settle();
  return bytes.size();
}

}  // namespace landtrace::tracefs
