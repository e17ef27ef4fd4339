// A histogram among the triggers of an event.
#pragma once

#include "hist/evaluate.hpp"
#include "plan/emit.hpp"

namespace landtrace::plan {

// Events that histograms make out of events that histograms make, and so on: no more than so many in one another. One that
// counts the very event that it makes ends there.
inline constexpr std::uint32_t kMaxNesting = 4;

inline const hist::HistPlan& histogram_of(const View& view, const Trigger& trigger) {
  return *control_at<hist::HistPlan>(view, trigger.histogram);
}

// Counts the event, unless the histogram is paused. What it makes of it happens before this returns. The caller is inside a
// Section. Async-signal-safe.
void run_histogram(const View& view, const Thread& thread, const hist::HistPlan& histogram, std::uint32_t event,
                   const arch::WriteRequest& request, hist::Moment& moment);

}  // namespace landtrace::plan
