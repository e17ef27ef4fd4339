#include "arch/clock_line.hpp"

#include <algorithm>
#include <utility>

namespace landtrace::arch {
namespace {

constexpr std::uint64_t kLongestInterval_ns = 50'000'000;
constexpr std::uint64_t kShortestInterval_ns = 20'000;

double slope_between(std::uint64_t raw, std::uint64_t ns) { return static_cast<double>(ns) / static_cast<double>(raw); }

std::uint64_t read_clock(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

ClockLine::ClockLine(RawClock raw, clockid_t shown) : raw_(raw) {
  if (raw == RawClock::kMonotonic && shown == CLOCK_MONOTONIC) {
    is_identity_ = true;
  } else {
    *this = ClockLine(raw, [shown] { return read_clock(shown); });
  }
}

ClockLine::ClockLine(RawClock raw, std::function<std::uint64_t()> shown) : raw_(raw), shown_(std::move(shown)) {
  last_ = read_pair();
  pairs_.push_back(last_);
}

// The tightest of a few tries: the clock shown between two readings of the raw one.
ClockLine::Pair ClockLine::read_pair() const {
  Pair best{};
  std::uint64_t best_width = ~0ull;
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t before = read_raw_clock(raw_);
    const std::uint64_t now = shown_();
    const std::uint64_t after = read_raw_clock(raw_);
    if (after - before >= best_width) continue;
    best_width = after - before;
    best = {before + (after - before) / 2, now};
  }
  return best;
}

// The longer the line is already, the longer it serves beyond its end: the error there stays that of a reading.
void ClockLine::sample() {
  if (is_identity_) return;
  Pair now = read_pair();
  while (pairs_.size() == 1 && now.ns - last_.ns < kShortestInterval_ns) now = read_pair();  // no slope yet: once
  if (now.raw <= last_.raw || now.ns <= last_.ns) return;  // clocks that can be set may stand still for us
  const std::uint64_t wanted = std::clamp(last_.ns - pairs_.front().ns, kShortestInterval_ns, kLongestInterval_ns);
  if (pairs_.size() > 1 && now.ns - last_.ns < wanted) return;
  if (pairs_.size() >= kMaxPairs) {  // every other one of the older half goes
    std::size_t kept = 0;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      if (i >= pairs_.size() / 2 || i % 2 == 0) pairs_[kept++] = pairs_[i];
    }
    pairs_.resize(kept);
  }
  slope_ = slope_between(now.raw - last_.raw, now.ns - last_.ns);
  pairs_.push_back(now);
  last_ = now;
}

std::uint64_t ClockLine::between(std::uint64_t raw) const {
  if (pairs_.size() < 2) return last_.ns - std::min(last_.ns, last_.raw - raw);
  auto after = std::upper_bound(pairs_.begin() + 1, pairs_.end() - 1, raw,
                                [](std::uint64_t value, const Pair& pair) { return value < pair.raw; });
  const Pair& end = *after;
  const Pair& start = *std::prev(after);
  const double slope = slope_between(end.raw - start.raw, end.ns - start.ns);
  if (raw >= start.raw) return start.ns + static_cast<std::uint64_t>(static_cast<double>(raw - start.raw) * slope);
  const auto before = static_cast<std::uint64_t>(static_cast<double>(start.raw - raw) * slope);
  return start.ns - std::min(start.ns, before);
}

}  // namespace landtrace::arch
