#include "plan/emit.hpp"

#include <algorithm>

namespace landtrace::plan {

void detail::record_after(arch::WriteOutcome first, const View& view, const Thread& thread, const PlanStep& step,
                          arch::WriteRequest& request) {
  ring::write_after(first, request, rings_of(view, step), thread.mode, thread.claim);
}

bool detail::lets_through(const View& view, const PlanStep& step, std::uint32_t tid) {
  const ThreadList& list = *control_at<ThreadList>(view, static_cast<std::uint32_t>(step.threads));
  const std::uint32_t* ids = list.ids();
  if (list.only_count != ThreadList::kEverybody) {
    if (!std::binary_search(ids, ids + list.only_count, tid)) return false;
    ids += list.only_count;
  }
  return !std::binary_search(ids, ids + list.never_count, tid);
}

}  // namespace landtrace::plan
