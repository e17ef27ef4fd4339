#include "programs/task.hpp"

#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/fd.hpp"

namespace landtrace::programs {
namespace {

// PF_FORKNOEXEC, a bit of the task's flags that the kernel shows but does not export. All kernels have the same.
constexpr std::uint64_t kForkedWithoutExec = 0x40;

std::string proc(std::uint32_t pid) { return "/proc/" + std::to_string(pid); }

// Fields of /proc/PID/stat by their number in proc(5), from the third on. The second is the name in brackets, in which
// a program may write anything, also ") R 1": the last bracket ends it.
constexpr std::size_t kFirstField = 3;
constexpr std::size_t kLastField = 28;
using Fields = std::array<std::uint64_t, kLastField + 1>;

bool parse_fields(std::string_view text, Fields& fields) {
  const auto name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return false;
  text.remove_prefix(std::min(text.size(), name_end + 2));
  for (std::size_t i = kFirstField; i <= kLastField; ++i) {
    const auto end = text.find(' ');
    if (end == std::string_view::npos) return false;
    // Those that are no number (the state) or negative are not of interest, and are 0.
    fields[i] = 0;
    std::from_chars(text.data(), text.data() + end, fields[i]);
    text.remove_prefix(end + 1);
  }
  return true;
}

std::vector<std::uint32_t> children_of(std::uint32_t pid) {
  std::vector<std::uint32_t> children;
  std::error_code error;
  for (std::filesystem::directory_iterator it(proc(pid) + "/task", error), end; !error && it != end;
       it.increment(error)) {
    const auto text = read_file(it->path().string() + "/children");
    if (!text) continue;
    const char* const stop = text->data() + text->size();
    std::uint32_t child = 0;
    for (auto at = std::from_chars(text->data(), stop, child); at.ec == std::errc();
         at = std::from_chars(std::min(at.ptr + 1, stop), stop, child)) {
      children.push_back(child);
    }
  }
  return children;
}

}  // namespace

std::uint32_t process_of(std::uint32_t tid) {
  const auto status = read_file(proc(tid) + "/status", 4096);
  if (!status) return tid;
  const auto at = status->find("\nTgid:");
  return at == std::string::npos ? tid
                                 : static_cast<std::uint32_t>(std::strtoul(status->c_str() + at + 6, nullptr, 10));
}

std::optional<std::uint32_t> user_of(std::uint32_t pid) {
  const auto status = read_file(proc(pid) + "/status", 4096);
  const auto at = status ? status->find("\nUid:\t") : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  return static_cast<std::uint32_t>(std::strtoul(status->c_str() + at + 6, nullptr, 10));
}

std::optional<std::uint32_t> last_cpu_in(std::string_view stat) {
  constexpr std::size_t kProcessor = 39;
  const auto name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  std::size_t at = name_end + 1;
  for (std::size_t field = kFirstField; field < kProcessor && at != std::string_view::npos; ++field) {
    at = stat.find(' ', at + 1);
  }
  std::uint32_t cpu = 0;
  if (at == std::string_view::npos || at + 1 >= stat.size()) return std::nullopt;
  const auto read = std::from_chars(stat.data() + at + 1, stat.data() + stat.size(), cpu);
  return read.ec == std::errc() ? std::optional(cpu) : std::nullopt;
}

std::optional<TaskStat> stat_of(std::uint32_t pid) {
  const auto text = read_file(proc(pid) + "/stat", 4096);
  Fields fields;
  if (!text || !parse_fields(*text, fields)) return std::nullopt;
  constexpr int kParent = 4, kFlags = 9, kStartTime = 22, kStartCode = 26, kEndCode = 27, kStartStack = 28;
  return TaskStat{pid, static_cast<std::uint32_t>(fields[kParent]), (fields[kFlags] & kForkedWithoutExec) != 0,
                  fields[kStartTime], Image{fields[kStartCode], fields[kEndCode], fields[kStartStack]}};
}

std::vector<TaskStat> all_tasks() {
  std::vector<TaskStat> tasks;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    std::uint32_t pid = 0;
    const auto number = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (number.ec != std::errc() || number.ptr != name.data() + name.size()) continue;
    if (const auto task = stat_of(pid)) tasks.push_back(*task);
  }
  return tasks;
}

std::uint64_t now_ticks() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const auto ticks = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return static_cast<std::uint64_t>(now.tv_sec) * ticks +
         static_cast<std::uint64_t>(now.tv_nsec) * ticks / 1'000'000'000;
}

bool share_memory(std::uint32_t a, std::uint32_t b) {
  // 0: the same. Other numbers are an order of different ones.
  const long compared = ::syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0);
  if (compared >= 0) return compared == 0;
  if (errno == ESRCH) return false;
  // The call is not allowed here (seccomp, another user), or not built in. A memory that both have has the same figures
  // in both; two that happen to have the same figures are taken for one.
  const auto of_a = read_file(proc(a) + "/statm", 4096);
  const auto of_b = read_file(proc(b) + "/statm", 4096);
  return of_a && of_b && *of_a == *of_b;
}

std::vector<TaskStat> tasks_below(std::uint32_t pid) {
  constexpr std::size_t kEnough = 4096;  // a program that forks faster than we look would keep us here for ever
  std::vector<TaskStat> tasks;
  std::vector<std::uint32_t> waiting = children_of(pid);
  while (!waiting.empty() && tasks.size() < kEnough) {
    const std::uint32_t next = waiting.back();
    waiting.pop_back();
    const auto task = stat_of(next);
    if (!task) continue;
    tasks.push_back(*task);
    const auto below = children_of(next);
    waiting.insert(waiting.end(), below.begin(), below.end());
  }
  return tasks;
}

}  // namespace landtrace::programs
