#include "agent/other_threads.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "agent/raw.hpp"
#include "agent/stop.hpp"
#include "agent/thread_files.hpp"

namespace landtrace::agent {

namespace {

unsigned long (*usual_tracer)() = nullptr;

}  // namespace

void set_usual_tracer(unsigned long (*ask)()) { usual_tracer = ask; }

#if defined(__x86_64__)
namespace {

constexpr std::size_t kHelperStack = 64 << 10;

// The helper's first and only function, on its own stack.
[[noreturn]] void helper(Stop* stop) {
  stop->run();
  for (;;) raw(SYS_exit, 0);
}

// A process with this memory and no signal at its end. Returns its id, or a negative errno.
long start_helper(Stop* stop, void* stack_end) {
  long result = SYS_clone;
  register long r10 asm("r10") = 0;
  register long r8 asm("r8") = 0;
  asm volatile(
      "syscall\n\t"
      "testq %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "movq %[stop], %%rdi\n\t"
      "callq *%[helper]\n\t"
      "1:\n\t"
      : "+a"(result)
      : "D"(static_cast<long>(CLONE_VM | CLONE_UNTRACED)), "S"(stack_end), "d"(0), "r"(r10),
        "r"(r8), [stop] "r"(stop), [helper] "r"(&helper)
      : "rcx", "r11", "memory");
  return result;
}

class SignalsBlocked {
 public:
  SignalsBlocked() {
    const std::uint64_t all = ~0ull;
    raw(SYS_rt_sigprocmask, SIG_SETMASK, raw_address(&all), raw_address(&before_), sizeof all);
  }
  ~SignalsBlocked() { raw(SYS_rt_sigprocmask, SIG_SETMASK, raw_address(&before_), 0, sizeof before_); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  std::uint64_t before_ = 0;
};

StopReport run_helper(std::span<Patch> patches, const std::vector<Mapped>& maps, std::uint64_t patience_ns, int tasks,
                      bool let_trace, void* stack) {
  Stop stop(patches, maps, patience_ns, tasks, raw(SYS_gettid));
  StopReport failed;
  failed.result = StopResult::kNotPermitted;
  if (!stop.allocate()) return failed;
  // What is signalled to the program's group must not run its handlers in the helper.
  const SignalsBlocked blocked;
  const long pid = start_helper(&stop, static_cast<char*>(stack) + kHelperStack - 64);
  if (pid < 0) return failed;
  if (let_trace) raw(SYS_prctl, PR_SET_PTRACER, pid);
  __atomic_store_n(&stop.go, 1, __ATOMIC_RELEASE);  // pairs with Stop::run()
  int status = 0;
  while (raw(SYS_wait4, pid, raw_address(&status), __WALL, 0) == -EINTR) {
  }
  if (let_trace) raw(SYS_prctl, PR_SET_PTRACER, usual_tracer == nullptr ? 0 : static_cast<long>(usual_tracer()));
  stop.clean_up();
  return stop.report();
}

}  // namespace

bool is_alone() {
  const int tasks = ::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tasks < 0) return false;
  alignas(8) char buffer[1024];
  const long got = raw(SYS_getdents64, tasks, raw_address(buffer), sizeof buffer);
  ::close(tasks);
  unsigned count = 0;
  for (long at = 0; at < got;) {
    const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer + at);
    count += entry->name[0] != '.' ? 1 : 0;
    at += entry->size;
  }
  return count == 1;
}

StopReport write_with_others_stopped(std::span<Patch> patches, const std::vector<Mapped>& maps,
                                     std::uint64_t patience_ns) {
  StopReport report;
  report.result = StopResult::kNotPermitted;
  const int tasks = ::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tasks < 0) return report;
  void* stack = ::mmap(nullptr, kHelperStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack != MAP_FAILED) {
    report = run_helper(patches, maps, patience_ns, tasks, false, stack);
    // Yama lets a process be traced by whom it has named only.
    if (report.result == StopResult::kNotPermitted) {
      report = run_helper(patches, maps, patience_ns, tasks, true, stack);
    }
    ::munmap(stack, kHelperStack);
  }
  ::close(tasks);
  return report;
}

#else

bool is_alone() { return false; }
StopReport write_with_others_stopped(std::span<Patch>, const std::vector<Mapped>&, std::uint64_t) { return {}; }

#endif

}  // namespace landtrace::agent
