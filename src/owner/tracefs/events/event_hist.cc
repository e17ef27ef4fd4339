#include "tracefs/events/event_hist.hpp"

#include "tracefs/context.hpp"
#include "tracefs/events/address_names.hpp"

namespace landtrace::tracefs {

Result<std::string> EventHist::text() {
  LT_TRY(const domain::Event* const event, event_.get());
  LT_TRY(const domain::Instance* const instance, event_.instance->get());
  Context& context = event_.instance->context;
  ProducerNames names(context.domain.users(), context.rules.functions());
  return context.rules.histograms().text(*instance, *event, names);
}

}  // namespace landtrace::tracefs
