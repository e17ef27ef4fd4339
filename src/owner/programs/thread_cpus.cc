#include "programs/thread_cpus.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <span>
#include <string>

#include "programs/task.hpp"

namespace landtrace::programs {
namespace {

constexpr std::size_t kMaxCpus = 8192;

std::uint32_t own_cpu() {
  const int cpu = ::sched_getcpu();
  return cpu < 0 ? 0 : static_cast<std::uint32_t>(cpu);
}

// The CPU of a thread that may run on one only. False: there is no such thread.
bool is_there(std::uint32_t tid, std::optional<std::uint32_t>& only_cpu) {
  std::array<std::uint64_t, kMaxCpus / 64> mask;
  // Not the C library's, which clears what the kernel has not filled.
  const long bytes = ::syscall(SYS_sched_getaffinity, tid, sizeof mask, mask.data());
  if (bytes < 0) return false;
  int count = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bytes) / sizeof mask[0]; ++i) {
    if (mask[i] == 0) continue;
    count += std::popcount(mask[i]);
    only_cpu = static_cast<std::uint32_t>(64 * i + static_cast<std::size_t>(std::countr_zero(mask[i])));
  }
  if (count != 1) only_cpu.reset();
  return true;
}

}  // namespace

std::uint32_t ThreadCpus::last_cpu_of(std::uint32_t tid) {
  std::optional<std::uint32_t> cpu;
  if (tid == 0 || tid == static_cast<std::uint32_t>(::gettid()) || !is_there(tid, cpu)) return own_cpu();
  if (!cpu) cpu = ask_proc(tid);
  return cpu ? *cpu : own_cpu();
}

std::optional<std::uint32_t> ThreadCpus::ask_proc(std::uint32_t tid) {
  Known& known = known_[tid % known_.size()];
  std::array<char, 1024> text;
  for (const bool is_new : {false, true}) {
    if (is_new) {
      const std::string id = std::to_string(tid);
      // Below "task": the other file of this name adds up what all threads of the process have used.
      known = {tid, Fd(::open(("/proc/" + id + "/task/" + id + "/stat").c_str(), O_RDONLY | O_CLOEXEC))};
    } else if (known.tid != tid) {
      continue;
    }
    const ssize_t size = known.stat ? ::pread(known.stat.get(), text.data(), text.size(), 0) : -1;
    // ESRCH: the descriptor is of a thread that had this id before.
    if (size > 0) return last_cpu_in({text.data(), static_cast<std::size_t>(size)});
  }
  return std::nullopt;
}

}  // namespace landtrace::programs
