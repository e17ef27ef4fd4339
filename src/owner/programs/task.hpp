// What /proc says of threads and processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace landtrace::programs {

// The process that the thread belongs to; `tid` itself where that cannot be found out.
std::uint32_t process_of(std::uint32_t tid);

// Whose the process is, by its real user: who started it, whatever rights it has. (The folder in /proc is root's where
// the process cannot be dumped, as each may ask for itself.) nullopt if there is no such process.
std::optional<std::uint32_t> user_of(std::uint32_t pid);

// The place in memory where exec has put a program. It is random, and all processes that were forked since have the
// same.
struct Image {
  std::uint64_t start_code = 0;
  std::uint64_t end_code = 0;
  std::uint64_t start_stack = 0;

  // False where we are not allowed to see it, and while exec has not chosen the place yet.
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
// The CPU that a thread ran on last, by the text of its stat file.
std::optional<std::uint32_t> last_cpu_in(std::string_view stat);
// What /proc/PID/stat says; nullopt if there is no such process.
std::optional<TaskStat> stat_of(std::uint32_t pid);
// The same of all processes that there are. They are read one after the other: together they need not show one moment.
std::vector<TaskStat> all_tasks();
// The present time in the unit of TaskStat::start_ticks.
std::uint64_t now_ticks();

// Whether two processes have the same memory: both are threads of one process, or one is a vfork child of the other
// that has not called exec yet. Blocks for as long as either is in the middle of exec, which may be for ever (it closes
// a file of a hung FUSE mount): ForeignMemory asks where that does no harm. Opening /proc/PID/mem, maps, environ, auxv
// or syscall waits for the same lock; what the other functions here read does not.
bool share_memory(std::uint32_t a, std::uint32_t b);
// The children of the process, their children and so on. Empty where the kernel was built without lists of children.
std::vector<TaskStat> tasks_below(std::uint32_t pid);

}  // namespace landtrace::programs
