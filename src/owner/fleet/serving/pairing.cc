#include "fleet/serving/pairing.hpp"

namespace landtrace::fleet {
namespace {

constexpr const char* kLatencyField = "latency_ns";
constexpr const char* kUserEvents = "user_events:";

std::string full_name(const std::string& event) {
  return event.find(':') == std::string::npos ? kUserEvents + event : event;
}

}  // namespace

Pairing::Pairing(std::unique_ptr<consumer::DomainView> view, consumer::Session session,
                 const measure::LatencySink::Request& request, const Order& order, const AgentOptions& options)
    : SessionWork(std::move(view), std::move(session)),
      title_(request.from + " -> " + request.to),
      sink_(request, order.stack, options.left_out),
      collector_(*view_, session_, sink_) {}

Result<std::unique_ptr<SessionWork>> Pairing::begin(std::unique_ptr<consumer::DomainView> view,
                                                    consumer::Session session, const Order& order,
                                                    const AgentOptions& options) {
  const measure::LatencySink::Request request{.from = full_name(order.event),
                                              .to = full_name(order.to),
                                              .from_key = order.key,
                                              .to_key = order.to_key.empty() ? order.key : order.to_key,
                                              .by = order.by};
  if (request.from_key.empty() || request.from_key.size() != request.to_key.size()) {
    return fail(EINVAL, "want as many key fields of one event as of the other, and one at least");
  }
  std::unique_ptr<Pairing> work(new Pairing(std::move(view), std::move(session), request, order, options));
  const std::vector<std::string> triggers(order.stack ? 1 : 0, "stacktrace");
  LT_CHECK(work->session_.select({.pattern = request.to, .triggers = triggers}));
  // Behind the other one: of an event that is both, the filter counts.
  LT_CHECK(work->session_.select({.pattern = request.from, .filter = order.filter}));
  return work;
}

Result<void> Pairing::look() {
  for (;;) {
    LT_TRY(const bool is_more, collector_.drain());
    if (!is_more) return {};
  }
}

Result<void> Pairing::counted(const TakeCounted& take) {
  const consumer::Totals totals = collector_.totals();
  take({title_,
        sink_.table(kLatencyField),
        {.starts = sink_.pairs().starts_without_end(),
         .ends = sink_.pairs().ends_without_start(),
         .lost = totals.discarded + totals.overwritten + totals.placeless},
        sink_.slowest()});
  return {};
}

// Also when the owner is gone: what programs have recorded is there.
void Pairing::end() { std::ignore = collector_.finish(); }

std::vector<Refusal> Pairing::refusals() {
  std::vector<Refusal> refusals = SessionWork::refusals();
  if (const Result<void>& fits = sink_.fits(); !fits) refusals.push_back({"", fits.error().message});
  return refusals;
}

}  // namespace landtrace::fleet
