#include "arch/clock_converter.hpp"

#include <algorithm>
#include <iterator>

namespace landtrace::arch {

namespace {
double slope_between(std::uint64_t raw, std::uint64_t ns) { return static_cast<double>(ns) / static_cast<double>(raw); }
}  // namespace

ClockConverter::ClockConverter(RawClock clock, Limits limits) : clock_(clock), limits_(limits) {
  if (clock == RawClock::kMonotonic) return;
  first_ = read_pair();
  timespec baseline{0, 2'000'000};
  ::nanosleep(&baseline, nullptr);
  const Pair now = read_pair();
  stretches_.push_back({first_, slope_between(now.raw - first_.raw, now.ns - first_.ns)});
}

// The tightest of a few tries: the raw clock read between two readings of the other clock.
ClockConverter::Pair ClockConverter::read_pair() const {
  if (clock_ == RawClock::kMonotonic) {
    const std::uint64_t now = monotonic_ns();
    return {now, now};
  }
  Pair best{};
  std::uint64_t best_width = ~0ull;
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t before = read_counter();
    const std::uint64_t ns = monotonic_ns();
    const std::uint64_t after = read_counter();
    if (after - before < best_width) {
      best_width = after - before;
      best = {before + (after - before) / 2, ns};
    }
  }
  return best;
}

void ClockConverter::sample() {
  if (clock_ == RawClock::kMonotonic) return;
  constexpr std::uint64_t kCatchUp = 100'000'000;  // ns over which an error is worked off, if that is not long past
  const Pair now = read_pair();
  if (now.raw <= stretches_.back().start.raw || now.ns < stretches_.back().start.ns + limits_.shortest_ns) return;
  const std::uint64_t on_line = to_ns(now.raw);
  const double error = static_cast<double>(static_cast<std::int64_t>(now.ns - on_line));
  const double slope = slope_between(now.raw - first_.raw, now.ns - first_.ns);
  const std::uint64_t until_next = std::max(kCatchUp, now.ns - stretches_.back().start.ns);
  const double bend = std::clamp(error / static_cast<double>(until_next), -0.5, 0.5);
  stretches_.push_back({{now.raw, on_line}, slope * (1.0 + bend)});
  if (stretches_.size() >= limits_.stretches) thin_out();
}

// Every other bend of the older half goes; the line runs straight between those that stay.
void ClockConverter::thin_out() {
  std::vector<Stretch> kept;
  const std::size_t half = stretches_.size() / 2 & ~std::size_t{1};
  for (std::size_t i = 0; i < half; i += 2) {
    const Pair& start = stretches_[i].start;
    const Pair& end = stretches_[i + 2].start;
    kept.push_back({start, slope_between(end.raw - start.raw, end.ns - start.ns)});
  }
  kept.insert(kept.end(), stretches_.begin() + static_cast<std::ptrdiff_t>(half), stretches_.end());
  stretches_ = std::move(kept);
}

std::uint64_t ClockConverter::to_ns(std::uint64_t raw) const {
  if (clock_ == RawClock::kMonotonic) return raw;
  // Nearly every call is for the newest stretch.
  const Stretch* stretch = &stretches_.back();
  if (raw < stretch->start.raw) {
    const auto after = std::upper_bound(stretches_.begin(), stretches_.end(), raw,
                                        [](std::uint64_t value, const Stretch& s) { return value < s.start.raw; });
    stretch = after == stretches_.begin() ? &stretches_.front() : &*std::prev(after);
  }
  if (raw < stretch->start.raw) {  // before the first reading
    const auto before = static_cast<std::uint64_t>(static_cast<double>(stretch->start.raw - raw) * stretch->slope);
    return before < stretch->start.ns ? stretch->start.ns - before : 0;
  }
  return stretch->start.ns + static_cast<std::uint64_t>(static_cast<double>(raw - stretch->start.raw) * stretch->slope);
}

}  // namespace landtrace::arch
