// A histogram of an event: a step of its plan, or one of its triggers.
#pragma once

#include "hist/evaluate.hpp"
#include "plan/emit.hpp"

namespace landtrace::plan {

// Histograms make events, of which other histograms make events: no deeper than this, where one ends that counts the
// very event that it makes.
inline constexpr std::uint32_t kMaxNesting = 4;

inline const hist::HistPlan& histogram_of(const View& view, const Trigger& trigger) {
  return *control_at<hist::HistPlan>(view, trigger.histogram);
}

// Counts the event, unless the histogram is paused. The events that it makes happen before this returns. The caller is
// inside a Section. Async-signal-safe.
void run_histogram(const View& view, const Thread& thread, const hist::HistPlan& histogram, std::uint32_t event,
                   const Segment* segments, std::uint32_t segment_count, hist::Moment& moment);

}  // namespace landtrace::plan
