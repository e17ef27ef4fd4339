#include "consumer/session.hpp"

#include <algorithm>

namespace landtrace::consumer {
namespace {

constexpr std::size_t kPositionsPerRequest = ipc::kMaxText / sizeof(ipc::ConsumedPosition);

// The owner may be another user's program: rings that do not lie in the data segments would be read out of
// bounds.
bool rings_lie_within(std::uint64_t offset, std::uint64_t size_log2, std::uint64_t rings, std::uint64_t bytes) {
  if (size_log2 < ring::kMinSizeLog2 || size_log2 > ring::kMaxSizeLog2 || offset % ring::kPage != 0) return false;
  const std::uint64_t stride = ring::Geometry{static_cast<std::uint32_t>(size_log2)}.stride();
  return offset >= sizeof(plan::DataSegment) && offset <= bytes && rings <= (bytes - offset) / stride;
}

}  // namespace

Session::Session(DomainView& view)
    : view_(&view),
      raw_clock_(view.control().raw_clock == 0 ? arch::RawClock::kMonotonic : arch::RawClock::kTsc),
      started_(arch::read_raw_clock(raw_clock_)) {}

Result<Session> Session::open(DomainView& view, const Options& options) {
  Session session(view);
  LT_TRY(
      const ipc::Answer answer,
      view.ask({.operation = ipc::Operation::kOpenSession, .a = options.ring_bytes, .b = options.overwrite ? 1u : 0u}));
  const std::uint64_t rings = std::uint64_t{view.cpus()} + view.claimed();
  if (!rings_lie_within(answer.reply.a, answer.reply.b, rings, view.data_bytes())) {
    return fail(EPROTO, "the owner of the domain gave rings that make no sense");
  }
  session.rings_ = answer.reply.a;
  session.geometry_.size_log2 = static_cast<std::uint32_t>(answer.reply.b);
  session.overwrite_ = options.overwrite;
  return session;
}

Result<void> Session::listen(std::string_view pattern) {
  LT_CHECK(view_->ask({.operation = ipc::Operation::kSessionEvents, .a = 1}, pattern));
  return {};
}

Result<void> Session::stop() {
  LT_CHECK(view_->ask({.operation = ipc::Operation::kSessionStop}));
  return {};
}

Result<void> Session::publish(std::span<const ipc::ConsumedPosition> positions) {
  while (!positions.empty()) {
    const auto part = positions.first(std::min(positions.size(), kPositionsPerRequest));
    LT_CHECK(view_->ask({.operation = ipc::Operation::kConsumed},
                        {reinterpret_cast<const char*>(part.data()), part.size_bytes()}));
    positions = positions.subspan(part.size());
  }
  return {};
}

}  // namespace landtrace::consumer
