#include "tracefs/events/event_hist.hpp"

#include "rules/histograms/rows.hpp"
#include "tracefs/events/address_names.hpp"

namespace landtrace::tracefs {

Result<std::string> EventHist::text() {
  LT_TRY(const domain::Event* const event, event_.get());
  LT_TRY(const domain::Instance* const instance, event_.instance->get());
  domain::Domain& domain = event_.instance->context.domain;
  ProducerNames names(domain);
  return rules::histograms_text(domain, *instance, *event, names);
}

}  // namespace landtrace::tracefs
