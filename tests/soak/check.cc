#include "check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace landtrace::soak {
namespace {

constexpr std::size_t kMostMistakes = 20;
constexpr std::uint64_t kTimed = 4096;

}  // namespace

void Check::wrong(const std::string& what) {
  if (mistakes_.size() < kMostMistakes) mistakes_.push_back(what);
}

void Check::event(const output::Record& record, const output::EventType& type) {
  if (type.name != "soak") return;
  Payload payload;
  if (record.payload.size() < sizeof payload) return wrong("an event that is too short");
  std::memcpy(&payload, record.payload.data(), sizeof payload);
  ++events_;
  const auto name = [&] { return fmt::format("event {} of source {}", payload.sequence, payload.source); };
  if (payload.check != check_of(payload.source, payload.sequence) || payload.kind >= kKinds) {
    return wrong("a torn event: " + name());
  }
  ++by_kind_[static_cast<Kind>(payload.kind)];
  if (payload.source >= Progress::kSources ||
      payload.sequence >= __atomic_load_n(&progress_.source[payload.source].begun, __ATOMIC_RELAXED)) {
    return wrong(name() + " was never emitted");
  }
  Seen& seen = seen_[payload.source];
  std::uint64_t& next = seen.next[record.cpu];
  if (payload.sequence < next) wrong(fmt::format("{} came behind {} in ring {}", name(), next - 1, record.cpu));
  next = payload.sequence + 1;
  if (seen.sequences.size() <= payload.sequence) seen.sequences.resize(payload.sequence + payload.sequence / 2 + 1);
  if (seen.sequences[payload.sequence]) wrong(name() + " came twice");
  seen.sequences[payload.sequence] = true;
  if (payload.sequence % kTimed == 0) check_time(seen, payload, record.time_ns);
}

// Also between rings: what was emitted later has the later time.
void Check::check_time(Seen& seen, const Payload& payload, std::uint64_t time_ns) {
  const auto [at, is_new] = seen.times.emplace(payload.sequence, time_ns);
  if (!is_new) return;
  const bool is_after = at == seen.times.begin() || std::prev(at)->second <= time_ns;
  const bool is_before = std::next(at) == seen.times.end() || std::next(at)->second >= time_ns;
  if (!is_after || !is_before)
    wrong(fmt::format("event {} of {} has the wrong time", payload.sequence, payload.source));
}

}  // namespace landtrace::soak
