#include "fleet/serving/recording.hpp"

namespace landtrace::fleet {

Recording::Recording(std::unique_ptr<consumer::DomainView> view, consumer::Session session)
    : SessionWork(std::move(view), std::move(session)), collector_(*view_, session_, sink_) {}

Result<std::unique_ptr<SessionWork>> Recording::begin(std::unique_ptr<consumer::DomainView> view,
                                                      consumer::Session session, const Order& order) {
  std::unique_ptr<Recording> work(new Recording(std::move(view), std::move(session)));
  LT_CHECK(work->session_.select({.pattern = order.event, .filter = order.filter, .triggers = order.triggers}));
  return work;
}

Result<void> Recording::look() { return collector_.look(); }

void Recording::end() { std::ignore = session_.stop(); }

std::uint64_t Recording::events() const {
  const consumer::Totals totals = collector_.totals();
  return totals.waiting + totals.overwritten;
}

}  // namespace landtrace::fleet
