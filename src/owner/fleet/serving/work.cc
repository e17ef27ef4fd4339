#include "fleet/serving/work.hpp"

#include "fleet/serving/counting.hpp"
#include "fleet/serving/pairing.hpp"
#include "fleet/serving/recording.hpp"

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
      return {kPairRings, false, kLeastPairRings};
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Work>> Work::begin(const std::string& socket, const Order& order) {
  LT_TRY(consumer::DomainView connected, consumer::DomainView::connect(socket));
  auto view = std::make_unique<consumer::DomainView>(std::move(connected));
  LT_TRY(consumer::Session session, consumer::Session::open(*view, options_of(order.kind)));
  if (order.kind == Order::Kind::kEnable) return Recording::begin(std::move(view), std::move(session), order);
  if (order.kind == Order::Kind::kHist) return Counting::begin(std::move(view), std::move(session), order);
  return Pairing::begin(std::move(view), std::move(session), order);
}

std::vector<Refusal> Work::refusals() {
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
