#include "plan/emit.hpp"

namespace landtrace::plan {

void detail::record_again(const View& view, const Thread& thread, const PlanStep& step, arch::WriteRequest& request) {
  ring::write_persistently(request, rings_of(view, step), thread.mode, thread.claim);
}

}  // namespace landtrace::plan
