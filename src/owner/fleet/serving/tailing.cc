#include "fleet/serving/tailing.hpp"

namespace landtrace::fleet {

Tailing::Tailing(std::unique_ptr<consumer::DomainView> view, consumer::Session session, const AgentOptions& options)
    : SessionWork(std::move(view), std::move(session)),
      sink_(options.host, options.left_out),
      collector_(*view_, session_, sink_) {}

Result<std::unique_ptr<SessionWork>> Tailing::begin(std::unique_ptr<consumer::DomainView> view,
                                                    consumer::Session session, const Order& order,
                                                    const AgentOptions& options) {
  std::unique_ptr<Tailing> work(new Tailing(std::move(view), std::move(session), options));
  LT_CHECK(work->session_.select({.pattern = order.event, .filter = order.filter, .triggers = order.triggers}));
  return work;
}

Result<void> Tailing::look() {
  LT_CHECK(collector_.drain());
  return {};
}

}  // namespace landtrace::fleet
