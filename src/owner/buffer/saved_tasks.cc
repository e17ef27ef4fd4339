#include "buffer/saved_tasks.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>

#include "buffer/task_names.hpp"

namespace landtrace::buffer {
namespace {

using TasksByTid = std::map<std::uint32_t, output::Task>;

void add_entries(const plan::DataSegment& data, std::size_t first, std::size_t end, TasksByTid& tasks) {
  for (std::size_t i = first; i < end; ++i) {
    // Pairs with the release store in leave_name(), plan/thread_slots.cc. task_of() looks again.
    const std::uint32_t tid = __atomic_load_n(&data.tasks[i].tid, __ATOMIC_ACQUIRE);
    if (tid == 0 || tid % plan::kMaxTasks != i) continue;
    if (auto task = task_of(data, tid)) tasks.emplace(tid, std::move(*task));
  }
}

// The table is large, sparse and mostly empty. Pages that nobody wrote to are skipped, so that looking does not
// allocate them.
void add_user(const domain::User& user, TasksByTid& tasks) {
  constexpr auto kBegin = static_cast<off_t>(offsetof(plan::DataSegment, tasks));
  constexpr auto kEntry = static_cast<off_t>(sizeof(plan::TaskEntry));
  constexpr off_t kEnd = kBegin + kEntry * static_cast<off_t>(plan::kMaxTasks);
  for (off_t at = kBegin; at < kEnd;) {
    const off_t data = ::lseek(user.fd.get(), at, SEEK_DATA);
    if (data < 0 || data >= kEnd) return;
    const off_t hole = std::min(kEnd, ::lseek(user.fd.get(), data, SEEK_HOLE));
    if (hole <= data) return;
    const off_t first = std::max(data, kBegin) - kBegin;
    add_entries(user.data(), static_cast<std::size_t>(first / kEntry),
                static_cast<std::size_t>((hole - kBegin + kEntry - 1) / kEntry), tasks);
    at = hole;
  }
}

}  // namespace

std::vector<std::pair<std::uint32_t, output::Task>> saved_tasks(const domain::Users& users) {
  TasksByTid tasks;
  for (const domain::User& user : users.all()) add_user(user, tasks);
  return {tasks.begin(), tasks.end()};
}

}  // namespace landtrace::buffer
