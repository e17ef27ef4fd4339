// Emits an event, and records its stack behind it, as a trigger would: where main, outer() and inner() have called,
// through a callback of the C library. What `plan` the event has is not looked at but for where it records.
#include <landtrace/landtrace.h>

#include <cstdio>
#include <cstdlib>

#include "client/process.hpp"
#include "plan/stack.hpp"

namespace {

using namespace landtrace;

landtrace_event job = LANDTRACE_EVENT_INIT;

[[gnu::noinline]] bool take_stack() {
  const client::Place* const place = client::Process::place();
  if (place == nullptr) return false;
  const plan::Section section(*place->thread.slot);
  const plan::EventSlot& slot = place->view.control->events[job.index];
  const auto& plan = *plan::control_at<plan::Plan>(place->view, __atomic_load_n(&slot.plan, __ATOMIC_ACQUIRE));
  plan::record_stack(place->view, place->thread, plan.steps()[plan.step_count - 1]);
  return true;
}

}  // namespace

extern "C" {

[[gnu::noinline]] int innermost_function(const void* /*a*/, const void* /*b*/) {
  static bool once = false;
  if (once) return 0;
  once = true;
  landtrace_emit(&job, nullptr, 0);
  if (!take_stack()) std::abort();
  return 0;
}

[[gnu::noinline]] void sorting_function() {
  int numbers[] = {2, 1};
  std::qsort(numbers, 2, sizeof numbers[0], innermost_function);
  asm volatile("");
}
}

int main() {
  if (landtrace_register(&job, "job", 0) != 0 || !landtrace_enabled(&job)) return 1;
  static const void* const entries[] = {reinterpret_cast<const void*>(&take_stack)};
  plan::set_own_frames({entries, 1, false});
  sorting_function();
  return 0;
}
