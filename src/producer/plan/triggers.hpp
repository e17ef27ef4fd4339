// What the triggers of an event do, in the thread that it happened in. Async-signal-safe.
#pragma once

#include "plan/emit.hpp"

namespace landtrace::plan {

// `step` is a kTriggers; the steps that it stands before are run as far as the event is recorded.
void run_triggers(const View& view, const Thread& thread, const PlanStep& step, std::uint32_t event,
                  arch::WriteRequest& request);

// A cell has changed. The owner is to tell the other users' producers, if there are any: the one system call here.
void tell_others(const View& view);

}  // namespace landtrace::plan
