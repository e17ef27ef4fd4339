#include "fleet/period.hpp"

#include <algorithm>

namespace landtrace::fleet {

Result<void> Period::check() const {
  if (until_ns <= from_ns) return fail(EINVAL, "a time that ends before it begins");
  if (every_ns != 0 && (until_ns - from_ns - 1) / every_ns >= kMostSlots) {
    return fail(EINVAL, "more than " + std::to_string(kMostSlots) + " parts of that time: want a longer --every");
  }
  return {};
}

std::uint64_t Period::slot_ns() const { return every_ns == 0 ? until_ns - from_ns : every_ns; }

std::uint32_t Period::slots() const {
  return every_ns == 0 ? 1 : static_cast<std::uint32_t>((until_ns - from_ns - 1) / every_ns + 1);
}

std::uint32_t Period::slot_of(std::uint64_t time_ns) const {
  if (time_ns < from_ns) return 0;
  const std::uint64_t slot = (time_ns - from_ns) / slot_ns() + 1;
  if (is_open) return static_cast<std::uint32_t>(std::min<std::uint64_t>(slot, slots()));
  return time_ns < until_ns ? static_cast<std::uint32_t>(slot) : slots() + 1;
}

std::uint64_t Period::end_of(std::uint32_t slot) const { return std::min(until_ns, begin_of(slot) + slot_ns()); }

namespace {

// The newest of each slot, in order. A clock that was set back gives a later frame an earlier time: what was counted up
// to a time is the highest sequence up to there, so that it never becomes less.
std::vector<SeenFrame> newest_of_slots(std::vector<SeenFrame> frames, std::uint32_t slots) {
  std::ranges::sort(frames, [](const SeenFrame& a, const SeenFrame& b) {
    return std::pair(a.slot, a.sequence) < std::pair(b.slot, b.sequence);
  });
  std::vector<SeenFrame> newest;
  for (const SeenFrame& frame : frames) {
    if (frame.slot > slots || (!newest.empty() && frame.sequence <= newest.back().sequence)) continue;
    if (!newest.empty() && newest.back().slot == frame.slot) newest.pop_back();
    newest.push_back(frame);
  }
  return newest;
}

}  // namespace

std::vector<Pick> picks_of(std::vector<SeenFrame> frames, std::uint64_t generation, const Period& period) {
  const std::vector<SeenFrame> newest = newest_of_slots(std::move(frames), period.slots());
  std::vector<Pick> picks;
  for (const SeenFrame& frame : newest) {
    Pick pick{frame.sequence, frame.time_ns};
    pick.is_unclear = picks.empty() && frame.slot > 0 && frame.sequence > 1 && generation < period.from_ns;
    if (frame.slot > 0 && !pick.is_unclear) pick.plus = frame.slot;
    if (!picks.empty()) picks.back().minus = frame.slot;
    picks.push_back(pick);
  }
  // Nothing was counted behind it.
  if (picks.size() == 1 && newest[0].slot == 0) picks.clear();
  return picks;
}

}  // namespace landtrace::fleet
