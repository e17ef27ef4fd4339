#include "buffer/trace_clock.hpp"

#include <algorithm>
#include <iterator>

namespace landtrace::buffer {
namespace {

constexpr std::uint64_t kNsPerTick = 10'000'000;

struct Known {
  std::string_view name;
  std::uint64_t scale;  // ns in a unit; 0: raw
  std::optional<clockid_t> clock;
};

constexpr Known kKnown[] = {
    {"local", 1, {}},
    {"global", 1, {}},
    {"counter", 0, {}},
    {"uptime", kNsPerTick, {}},
    {"perf", 1, {}},
    {"mono", 1, {}},
    {"mono_raw", 1, CLOCK_MONOTONIC_RAW},
    {"boot", 1, CLOCK_BOOTTIME},
    {"tai", 1, CLOCK_TAI},
    {"x86-tsc", 0, {}},
};

}  // namespace

Result<void> TraceClock::select(std::string_view name) {
  const auto* const known =
      std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& clock) { return clock.name == name; });
  if (known == std::end(kKnown)) return fail(EINVAL, "no clock '" + std::string(name) + "'");
  chosen_ = static_cast<std::size_t>(known - std::begin(kKnown));
  scale_ = known->scale;
  chosen_line_.reset();
  if (known->clock) chosen_line_.emplace(monotonic_.raw_clock(), *known->clock);
  return {};
}

std::string TraceClock::text() const {
  std::string text;
  for (std::size_t i = 0; i < std::size(kKnown); ++i) {
    if (i > 0) text += ' ';
    if (i == chosen_) text += '[';
    text += kKnown[i].name;
    if (i == chosen_) text += ']';
  }
  return text + '\n';
}

std::string_view TraceClock::name() const { return kKnown[chosen_].name; }

bool TraceClock::in_ns() const { return scale_ == 1; }

void TraceClock::sample() {
  monotonic_.sample();
  if (chosen_line_) chosen_line_->sample();
}

}  // namespace landtrace::buffer
