#include "buffer/tasks.hpp"

#include "buffer/task_names.hpp"

namespace landtrace::buffer {

const output::Task* Tasks::look_up(std::uint32_t tid, const plan::DataSegment& data, bool learn) {
  auto found = tasks_.find(tid);
  if (learn) {
    // The number may be another thread's by now. If the table has lost the thread, what was known before is kept.
    if (auto task = task_of(data, tid)) {
      if (found != tasks_.end()) {
        found->second = std::move(*task);
      } else if (tasks_.size() < kMaxTasks) {
        found = tasks_.emplace(tid, std::move(*task)).first;
      }
    }
  }
  const output::Task* const task = found == tasks_.end() ? nullptr : &found->second;
  recent_[tid % kRecent] = {tid, epoch_, task};
  return task;
}

}  // namespace landtrace::buffer
