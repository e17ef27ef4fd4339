#include "bpf_calls/timers.hpp"

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

// Under Held. Never destroyed: threads may go on after main().
std::map<const void*, Timer>& timers() {
  using Timers = std::map<const void*, Timer>;
  alignas(Timers) static std::byte memory[sizeof(Timers)];
  static Timers* const made = new (memory) Timers;
  return *made;
}

std::size_t count = 0;
bool has_none() { return __atomic_load_n(&count, __ATOMIC_RELAXED) == 0; }

}  // namespace

void add_timer(const void* event, ObjectRef program, std::uint64_t period_ns) {
  const Held held;
  timers()[event] = {std::move(program), period_ns, arch::monotonic_ns() + period_ns, true};
  __atomic_store_n(&count, timers().size(), __ATOMIC_RELAXED);
}

void remove_timer(const void* event) {
  if (has_none()) return;
  ObjectRef let_go;  // behind the lock
  const Held held;
  const auto found = timers().find(event);
  if (found == timers().end()) return;
  let_go = std::move(found->second.program);
  timers().erase(found);
  __atomic_store_n(&count, timers().size(), __ATOMIC_RELAXED);
}

void set_timer(const void* event, bool is_on) {
  if (has_none()) return;
  const Held held;
  const auto found = timers().find(event);
  if (found == timers().end() || found->second.is_on == is_on) return;
  found->second.is_on = is_on;
  found->second.due_ns = arch::monotonic_ns() + found->second.period_ns;
}

void timers_after_fork() {
  std::map<const void*, Timer> let_go;  // behind the lock
  const Held held;
  timers().swap(let_go);
  __atomic_store_n(&count, 0, __ATOMIC_RELAXED);
}

void run_due_timers() {
  if (has_none()) return;
  std::vector<std::pair<ObjectRef, std::uint64_t>> due;
  {
    const Held held;
    const std::uint64_t now = arch::monotonic_ns();
    for (auto& [event, timer] : timers()) {
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
  const Held held;
  const std::uint64_t now = arch::monotonic_ns();
  for (const auto& [event, timer] : timers()) {
    if (timer.is_on) next = std::min(next, timer.due_ns > now ? timer.due_ns - now : 0);
  }
  return next;
}

}  // namespace landtrace::bpf_calls
