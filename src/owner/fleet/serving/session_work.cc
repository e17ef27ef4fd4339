#include "fleet/serving/session_work.hpp"

#include "fleet/serving/agent_domain.hpp"
#include "fleet/serving/counting.hpp"
#include "fleet/serving/pairing.hpp"
#include "fleet/serving/recording.hpp"
#include "fleet/serving/tailing.hpp"

namespace landtrace::fleet {
namespace {

// Of a session that records nothing.
constexpr std::uint64_t kNoRings = 4096;
constexpr std::uint64_t kPairRings = 1u << 20;
constexpr std::uint64_t kLeastPairRings = 64u << 10;
// The newest events of each CPU.
constexpr std::uint64_t kRecordedRings = 1u << 20;
constexpr std::uint64_t kLeastRecordedRings = 16u << 10;

consumer::Session::Options options_of(Order::Kind kind) {
  switch (kind) {
    case Order::Kind::kEnable:
      return {kRecordedRings, true, kLeastRecordedRings};
    case Order::Kind::kHist:
      return {kNoRings, false, 0};
    case Order::Kind::kLatency:
    case Order::Kind::kTail:
      return {kPairRings, false, kLeastPairRings};
    case Order::Kind::kSnapshot:
      break;
  }
  return {};
}

Result<std::unique_ptr<SessionWork>> begin_session(const AgentOptions& options, const Order& order) {
  LT_TRY(consumer::DomainView connected, consumer::DomainView::connect(options.socket));
  auto view = std::make_unique<consumer::DomainView>(std::move(connected));
  LT_TRY(consumer::Session session, consumer::Session::open(*view, options_of(order.kind)));
  switch (order.kind) {
    case Order::Kind::kEnable:
      return Recording::begin(std::move(view), std::move(session), order);
    case Order::Kind::kHist:
      return Counting::begin(std::move(view), std::move(session), order);
    case Order::Kind::kLatency:
      return Pairing::begin(std::move(view), std::move(session), order, options);
    case Order::Kind::kTail:
      return Tailing::begin(std::move(view), std::move(session), order, options);
    case Order::Kind::kSnapshot:  // of others' sessions
      break;
  }
  return fail(EINVAL, "no such kind of order");
}

}  // namespace

Result<std::unique_ptr<Work>> SessionWork::begin(const AgentOptions& options, const Order& order) {
  std::unique_ptr<OrderProbe> probe;
  if (!order.probe.object.empty()) {
    LT_TRY(probe, OrderProbe::define(options.socket, order));
  }
  LT_TRY(std::unique_ptr<SessionWork> work, begin_session(options, order));
  work->probe_ = std::move(probe);
  return work;
}

Result<std::unique_ptr<Work>> SocketDomain::begin(const AgentOptions& options, const Order& order) {
  return SessionWork::begin(options, order);
}

const std::deque<output::EventType>& SessionWork::types() {
  seen_.refresh();
  return seen_.types();
}

std::vector<Refusal> SessionWork::refusals() {
  std::vector<Refusal> refusals;
  const auto state = session_.state();
  if (!state) return refusals;
  for (const consumer::Session::Unfit& unfit : state->unfit) {
    const char* const what = unfit.is_trigger ? "the trigger '" : "the filter '";
    refusals.push_back({unfit.event, what + unfit.rule + "': " + unfit.reason});
  }
  return refusals;
}

}  // namespace landtrace::fleet
