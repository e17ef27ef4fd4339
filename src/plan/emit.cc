#include "plan/emit.hpp"

namespace landtrace::plan {

void detail::record_after(arch::WriteOutcome first, const View& view, const Thread& thread, const PlanStep& step,
                          arch::WriteRequest& request) {
  ring::write_after(first, request, rings_of(view, step), thread.mode, thread.claim);
}

}  // namespace landtrace::plan
