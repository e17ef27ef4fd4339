#include "buffer/trace_clock.hpp"

namespace landtrace::buffer {

Result<void> TraceClock::select(std::string_view name) {
  const arch::TraceClock* const known = arch::trace_clock_named(name);
  if (known == nullptr) return fail(EINVAL, "no clock '" + std::string(name) + "'");
  chosen_ = known;
  chosen_line_.reset();
  // The line of CLOCK_MONOTONIC is there already, and all instances share it.
  if (known->system != CLOCK_MONOTONIC) chosen_line_.emplace(monotonic_.raw_clock(), known->system);
  return {};
}

std::string TraceClock::text() const {
  std::string text;
  for (const arch::TraceClock& clock : arch::kTraceClocks) {
    if (!text.empty()) text += ' ';
    if (&clock == chosen_) text += '[';
    text += clock.name;
    if (&clock == chosen_) text += ']';
  }
  return text + '\n';
}

void TraceClock::sample() {
  monotonic_.sample();
  if (chosen_line_) chosen_line_->sample();
}

}  // namespace landtrace::buffer
