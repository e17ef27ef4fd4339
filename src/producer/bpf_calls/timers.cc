#include "bpf_calls/timers.hpp"

#include <pthread.h>

#include <algorithm>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "arch/clock.hpp"
#include "bpf/context.hpp"
#include "bpf_calls/run_here.hpp"

namespace landtrace::bpf_calls {
namespace {

struct Timer {
  ObjectRef program;
  std::uint64_t period_ns;
  std::uint64_t due_ns;
  bool is_on;
};

struct Timers {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  std::map<int, Timer> by_fd;
  std::size_t count = 0;
};

// Never destroyed: threads may go on after main().
Timers& timers() {
  alignas(Timers) static std::byte memory[sizeof(Timers)];
  static Timers* const made = new (memory) Timers;
  return *made;
}

class TimersHeld {
 public:
  TimersHeld() { ::pthread_mutex_lock(&timers().mutex); }
  ~TimersHeld() {
    __atomic_store_n(&timers().count, timers().by_fd.size(), __ATOMIC_RELAXED);
    ::pthread_mutex_unlock(&timers().mutex);
  }
  TimersHeld(const TimersHeld&) = delete;
  TimersHeld& operator=(const TimersHeld&) = delete;
};

bool has_none() { return __atomic_load_n(&timers().count, __ATOMIC_RELAXED) == 0; }

}  // namespace

void add_timer(int fd, ObjectRef program, std::uint64_t period_ns) {
  const TimersHeld held;
  timers().by_fd[fd] = {std::move(program), period_ns, arch::monotonic_ns() + period_ns, true};
}

void remove_timer(int fd) {
  if (has_none()) return;
  const TimersHeld held;
  timers().by_fd.erase(fd);
}

void set_timer(int fd, bool is_on) {
  if (has_none()) return;
  const TimersHeld held;
  const auto found = timers().by_fd.find(fd);
  if (found == timers().by_fd.end() || found->second.is_on == is_on) return;
  found->second.is_on = is_on;
  found->second.due_ns = arch::monotonic_ns() + found->second.period_ns;
}

void run_due_timers() {
  if (has_none()) return;
  std::vector<std::pair<ObjectRef, std::uint64_t>> due;
  {
    const TimersHeld held;
    const std::uint64_t now = arch::monotonic_ns();
    for (auto& [fd, timer] : timers().by_fd) {
      if (!timer.is_on || timer.due_ns > now) continue;
      timer.due_ns += ((now - timer.due_ns) / timer.period_ns + 1) * timer.period_ns;
      due.emplace_back(timer.program, timer.period_ns);
    }
  }
  for (const auto& [program, period_ns] : due) {
    const bpf::TimerSample sample{{}, period_ns, 0};
    std::uint64_t result = 0;
    static_cast<void>(run_here(*program, &sample, sizeof sample, result));
  }
}

std::uint64_t next_timer_ns() {
  std::uint64_t next = UINT64_MAX;
  if (has_none()) return next;
  const TimersHeld held;
  const std::uint64_t now = arch::monotonic_ns();
  for (const auto& [fd, timer] : timers().by_fd) {
    if (timer.is_on) next = std::min(next, timer.due_ns > now ? timer.due_ns - now : 0);
  }
  return next;
}

}  // namespace landtrace::bpf_calls
