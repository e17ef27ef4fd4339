#include "plan/event_probe.hpp"

#include "plan/histogram.hpp"
#include "plan/made_payload.hpp"

namespace landtrace::plan {

void run_event_probe(const View& view, const Thread& thread, const EventProbePlan& probe,
                     const arch::WriteRequest& request) {
  if (!is_enabled(view, probe.event)) return;
  if (view.nesting >= kMaxNesting) {
    __atomic_fetch_add(&view.data->slotless, 1, __ATOMIC_RELAXED);
    return;
  }
  View nested = view;
  ++nested.nesting;
  emit_made(nested, thread, probe,
            {.segments = request.segments, .segment_count = static_cast<std::uint32_t>(request.segment_count)});
}

}  // namespace landtrace::plan
