// What the triggers of an event do, in the thread that it happened in. Async-signal-safe.
#pragma once

#include "plan/emit.hpp"

namespace landtrace::plan {

// `step` is a kTriggers. Runs the triggers, and of the steps behind it the gates and the record of the same instance.
void run_triggers(const View& view, const Thread& thread, const PlanStep& step, std::uint32_t event,
                  arch::WriteRequest& request);

// A cell has changed: wakes the owner, which tells the other users' producers, if there are any. The one system call
// here.
void tell_others(const View& view);

}  // namespace landtrace::plan
