#include "buffer/task_names.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <unordered_set>

#include "base/fd.hpp"

namespace landtrace::buffer {
namespace {

// Writers may race for an entry, or make it up: it counts only if it has the tid before and after the copy.
std::optional<output::Task> copy_entry(const plan::TaskEntry& entry, std::uint32_t tid) {
  // Pairs with the last release store of leave_name(), plan/thread_slots.cc, and of SenderNames::leave(); the fence,
  // with the stores of 0 there.
  if (__atomic_load_n(&entry.tid, __ATOMIC_ACQUIRE) != tid) return std::nullopt;
  char comm[sizeof entry.comm];
  std::memcpy(comm, entry.comm, sizeof comm);
  const std::uint32_t pid = __atomic_load_n(&entry.pid, __ATOMIC_RELAXED);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (__atomic_load_n(&entry.tid, __ATOMIC_RELAXED) != tid) return std::nullopt;
  return output::Task{std::string(comm, ::strnlen(comm, sizeof comm)), pid};
}

// The thread's current name. The path has pid and tid, so that another process's thread is not taken for it.
std::optional<std::string> name_now(std::uint32_t pid, std::uint32_t tid) {
  auto text = read_file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/comm", 4096);
  if (!text) return std::nullopt;
  if (text->ends_with('\n')) text->pop_back();
  return std::move(*text);
}

}  // namespace

std::optional<output::Task> task_of(const plan::DataSegment& data, std::uint32_t tid) {
  auto task = copy_entry(data.tasks[tid % plan::kMaxTasks], tid);
  if (!task) return std::nullopt;
  if (auto name = name_now(task->tgid, tid)) task->comm = std::move(*name);
  return task;
}

void TaskNames::look_up(std::uint32_t tid, const plan::DataSegment& data) {
  recent_[tid % kRecent] = tid;
  if (tasks_.contains(tid) || tasks_.size() >= kMaxTasks) return;
  auto task = task_of(data, tid);
  if (!task) return;
  const auto [place, is_new] = tasks_.emplace(tid, std::move(*task));
  learnt_(static_cast<std::int32_t>(tid), place->second);
}

void TaskNames::refresh() {
  for (auto& [tid, task] : tasks_) {
    auto name = name_now(task.tgid, tid);
    if (!name || *name == task.comm) continue;
    task.comm = std::move(*name);
    learnt_(static_cast<std::int32_t>(tid), task);
  }
}

std::size_t TaskNames::processes() const {
  std::unordered_set<std::uint32_t> pids;
  for (const auto& [tid, task] : tasks_) pids.insert(task.tgid);
  return pids.size();
}

}  // namespace landtrace::buffer
