// The threads that wrote: tid -> name and process. For recordings, which are told of each name as it is learnt.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "output/record.hpp"
#include "plan/segments.hpp"

namespace landtrace::buffer {

// What the user's segment says about the thread, with its current name if it still lives; nullopt if the segment does
// not know it.
std::optional<output::Task> task_of(const plan::DataSegment& data, std::uint32_t tid);

class TaskNames {
 public:
  using Learnt = std::function<void(std::int32_t tid, const output::Task& task)>;

  explicit TaskNames(Learnt learnt) : learnt_(std::move(learnt)), recent_(kRecent) {}

  // Looks the thread up at its first event. `data` is the segment of the user whose ring the event was in, so that a
  // user can make up names only for threads of its own.
  void note(std::uint32_t tid, const plan::DataSegment& data) {
    if (recent_[tid % kRecent] != tid) look_up(tid, data);
  }

  // Reads the names of living threads again: one may have changed its name.
  void refresh();

  // All that have been learnt so far, by tid.
  [[nodiscard]] const std::unordered_map<std::uint32_t, output::Task>& all() const { return tasks_; }

  // How many processes were seen.
  [[nodiscard]] std::size_t processes() const;

 private:
  static constexpr std::uint32_t kRecent = 65536;
  static constexpr std::size_t kMaxTasks = 1u << 18;

  void look_up(std::uint32_t tid, const plan::DataSegment& data);

  Learnt learnt_;
  std::vector<std::uint32_t> recent_;  // by tid % kRecent: saves the hash for nearly every event
  std::unordered_map<std::uint32_t, output::Task> tasks_;
};

}  // namespace landtrace::buffer
