// What the triggers of an event do, in the thread that it happened in. Async-signal-safe.
#pragma once

#include "plan/emit.hpp"

namespace landtrace::plan {

// `step` is a kTriggers; the steps that it stands before are run as far as the event is recorded.
void run_triggers(const View& view, const Thread& thread, const PlanStep& step, std::uint32_t event,
                  arch::WriteRequest& request);

}  // namespace landtrace::plan
