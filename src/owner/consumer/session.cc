#include "consumer/session.hpp"

#include <algorithm>

#include "consumer/histograms.hpp"

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

// The next of the texts that each end in a NUL.
std::string_view take_text(std::string_view& texts) {
  const std::string_view text = texts.substr(0, texts.find('\0'));
  texts.remove_prefix(std::min(text.size() + 1, texts.size()));
  return text;
}

}  // namespace

Session::Session(DomainView& view)
    : view_(&view),
      raw_clock_(view.control().raw_clock == 0 ? arch::RawClock::kMonotonic : arch::RawClock::kTsc),
      started_(arch::read_raw_clock(raw_clock_)) {}

Result<Session> Session::open(DomainView& view, const Options& options) {
  Session session(view);
  LT_TRY(const ipc::Answer answer, view.ask({.operation = ipc::Operation::kOpenSession,
                                             .a = options.ring_bytes,
                                             .b = options.overwrite ? 1u : 0u,
                                             .c = options.least_ring_bytes}));
  const std::uint64_t rings = std::uint64_t{view.cpus()} + view.claimed();
  if (!rings_lie_within(answer.reply.a, answer.reply.b, rings, view.data_bytes())) {
    return fail(EPROTO, "the owner of the domain gave rings that make no sense");
  }
  session.rings_ = answer.reply.a;
  session.geometry_.size_log2 = static_cast<std::uint32_t>(answer.reply.b);
  session.overwrite_ = options.overwrite;
  return session;
}

Result<void> Session::select(const Selection& selection) {
  std::string texts = selection.pattern;
  texts.append(1, '\0').append(selection.filter).append(1, '\0');
  for (const std::string& trigger : selection.triggers) texts.append(trigger).append(1, '\0');
  LT_CHECK(view_->ask({.operation = ipc::Operation::kSessionSelect}, texts));
  return {};
}

Result<Session::State> Session::state() {
  State state;
  std::uint64_t next = 0;
  do {
    LT_TRY(const ipc::Answer answer, view_->ask({.operation = ipc::Operation::kSessionState, .a = next}));
    state.recording = answer.reply.a != 0;
    std::string_view texts = answer.text;
    while (!texts.empty()) {
      const std::string_view event = take_text(texts);
      const std::string_view rule = take_text(texts);
      if (rule.empty()) return fail(EPROTO, "the owner of the domain tells of no rule");
      state.unfit.push_back(
          {std::string(event), std::string(rule.substr(1)), rule[0] == 't', std::string(take_text(texts))});
    }
    if (answer.reply.b != 0 && answer.reply.b <= next) return fail(EPROTO, "a list without an end");
    next = answer.reply.b;
  } while (next != 0);
  return state;
}

Result<void> Session::record(bool on) {
  LT_CHECK(view_->ask({.operation = ipc::Operation::kSessionRecord, .a = on ? 1u : 0u}));
  return {};
}

Result<std::vector<ipc::HistogramTable>> Session::histograms(const std::string& event) {
  const std::size_t colon = event.find(':');
  if (colon == std::string::npos) return fail(EINVAL, "want SYSTEM:EVENT");
  std::string names = event;
  names[colon] = '\0';
  names.append(2, '\0');  // behind the event, and of no instance's name
  return gather_histograms(
      [&](std::uint64_t at) { return view_->ask({.operation = ipc::Operation::kHistograms, .a = at, .b = 1}, names); });
}

Result<void> Session::leave_out(std::span<const std::uint32_t> threads) {
  LT_CHECK(view_->ask({.operation = ipc::Operation::kSessionThreads},
                      {reinterpret_cast<const char*>(threads.data()), threads.size_bytes()}));
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
