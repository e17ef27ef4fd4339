// The names of threads that wrote, for texts. A name is kept when its thread has ended, and looked up again while it
// lives.
#pragma once

#include <unordered_map>
#include <vector>

#include "output/record.hpp"
#include "plan/segments.hpp"

namespace landtrace::buffer {

class Tasks {
 public:
  Tasks() : recent_(kRecent) {}

  // From here on each thread is looked up once more: it may have changed its name.
  void renew() { ++epoch_; }
  // nullptr: not known. `data` is the segment of the user whose ring the event was in, so that a user can make up
  // names only for threads of its own. The result is valid until the next call of any function.
  const output::Task* find(std::uint32_t tid, const plan::DataSegment& data, bool learn = true) {
    const Recent& recent = recent_[tid % kRecent];
    if (recent.tid == tid && recent.epoch == epoch_) [[likely]]
      return recent.task;
    return look_up(tid, data, learn);
  }

 private:
  static constexpr std::uint32_t kRecent = 4096;
  static constexpr std::size_t kMaxTasks = 1u << 18;

  struct Recent {
    std::uint32_t tid = 0;
    std::uint64_t epoch = 0;
    const output::Task* task = nullptr;
  };
  const output::Task* look_up(std::uint32_t tid, const plan::DataSegment& data, bool learn);

  std::uint64_t epoch_ = 1;
  std::vector<Recent> recent_;  // by tid % kRecent
  std::unordered_map<std::uint32_t, output::Task> tasks_;
};

}  // namespace landtrace::buffer
