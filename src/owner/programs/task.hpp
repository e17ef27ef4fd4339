// What /proc says of threads and processes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace landtrace::programs {

// The process that the thread belongs to; `tid` itself where that cannot be told.
std::uint32_t process_of(std::uint32_t tid);

// Where exec put a program. Random, and the same in all processes that were forked since: a family.
struct Image {
  std::uint64_t start_code = 0;
  std::uint64_t end_code = 0;
  std::uint64_t start_stack = 0;

  // False where it is not ours to see, or not yet there.
  [[nodiscard]] bool is_known() const { return start_stack != 0; }
  friend bool operator==(const Image&, const Image&) = default;
};

struct TaskStat {
  std::uint32_t pid = 0;
  std::uint32_t parent = 0;
  bool only_forked = false;       // it has not called exec since it was forked
  std::uint64_t start_ticks = 0;  // since boot
  Image image;
};
// What /proc/PID/stat says; nothing where there is no such process.
std::optional<TaskStat> stat_of(std::uint32_t pid);
// Of all processes there are.
std::vector<TaskStat> all_tasks();
// The time in the unit of TaskStat::start_ticks.
std::uint64_t now_ticks();

// Whether two processes have one memory: threads in all but name, or a child of vfork that has not called exec yet.
bool share_memory(std::uint32_t a, std::uint32_t b);
// The children of the process, theirs and so on, where the system lists them; else none.
std::vector<TaskStat> tasks_below(std::uint32_t pid);

}  // namespace landtrace::programs
