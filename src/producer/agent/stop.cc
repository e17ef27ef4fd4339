// Threads are stopped, one by one, until none is left that could move.
#include "agent/stop.hpp"

#include <fcntl.h>
#include <linux/ptrace.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "agent/thread_files.hpp"

#if defined(__x86_64__)
namespace landtrace::agent {
namespace {

constexpr std::size_t kMaxThreads = 8192;
// For a thread that is to stop, and is not held up by anything but others that want the CPU.
constexpr std::uint64_t kLastPatience = 1'000'000'000;

std::uint64_t now() {
  timespec time = {};
  raw(SYS_clock_gettime, CLOCK_MONOTONIC, raw_address(&time));
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

void rest() {
  const timespec time = {0, 20'000};
  raw(SYS_nanosleep, raw_address(&time), 0);
}

}  // namespace

bool Stop::allocate() {
  void* memory =
      ::mmap(nullptr, kMaxThreads * sizeof(Thread), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  threads_ = memory == MAP_FAILED ? nullptr : static_cast<Thread*>(memory);
  return threads_ != nullptr;
}

Stop::~Stop() {
  if (threads_ != nullptr) ::munmap(threads_, kMaxThreads * sizeof(Thread));
}

// Adds the threads that are not known yet.
bool Stop::list(bool& grown) {
  alignas(8) char buffer[4096];
  raw(SYS_lseek, tasks_, 0, SEEK_SET);
  for (;;) {
    const long got = raw(SYS_getdents64, tasks_, raw_address(buffer), sizeof buffer);
    if (got <= 0) return got == 0;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer + at);
      at += entry->size;
      long id = 0;
      for (const char* c = entry->name; *c >= '0' && *c <= '9'; ++c) id = id * 10 + (*c - '0');
      if (id == 0 || id == self_) continue;
      const auto known = [id](const Thread& thread) { return thread.id == id; };
      if (std::any_of(threads_, threads_ + count_, known)) continue;
      if (count_ == kMaxThreads) return false;
      threads_[count_++] = {id, -1, Hold::kNew, 0, 0, 0};
      grown = true;
    }
  }
}

StopResult Stop::seize(Thread& thread) {
  const long options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
  const long result = ptrace(PTRACE_SEIZE, thread.id, 0, options);
  // A thread that was started by one that is traced already is so, too.
  if (result == 0 || (result == -EPERM && ptrace(PTRACE_INTERRUPT, thread.id) == 0)) {
    thread.fd = open_of_thread(tasks_, thread.id, "syscall");
    return thread.fd >= 0 ? StopResult::kDone : StopResult::kNotPermitted;
  }
  if (result == -ESRCH) {
    thread.hold = Hold::kGone;
    return StopResult::kDone;
  }
  // A worker of the kernel in the program's name is never in the program's code: it has none.
  char name[4] = {};
  const int fd = open_of_thread(tasks_, thread.id, "comm");
  if (fd >= 0) {
    raw(SYS_read, fd, raw_address(name), sizeof name);
    raw(SYS_close, fd);
  }
  if (std::memcmp(name, "iou-", sizeof name) == 0) {
    thread.hold = Hold::kGone;
    return StopResult::kDone;
  }
  char status[1024] = {};
  const int status_fd = open_of_thread(tasks_, thread.id, "status");
  if (status_fd >= 0) {
    raw(SYS_read, status_fd, raw_address(status), sizeof status - 1);
    raw(SYS_close, status_fd);
  }
  const char* state = value_of(status, "State:");
  if (state == nullptr || *state == 'Z' || *state == 'X') {
    thread.hold = Hold::kGone;
    return StopResult::kDone;
  }
  const char* tracer = value_of(status, "TracerPid:");
  return tracer != nullptr && *tracer != '0' ? StopResult::kTraced : StopResult::kNotPermitted;
}

// "running", or "CALL A B C D E F SP PC", or "-1 SP PC" where it waits for a page.
bool Stop::look(Thread& thread, bool& is_blocked, long& call) {
  char text[256];
  is_blocked = false;
  const long size = raw(SYS_pread64, thread.fd, raw_address(text), sizeof text - 1, 0);
  if (size <= 0) return size != -ESRCH;
  text[size] = '\0';
  if (text[0] < '0' || text[0] > '9') return true;
  const char* c = text;
  call = 0;
  for (; *c >= '0' && *c <= '9'; ++c) call = call * 10 + (*c - '0');
  for (unsigned i = 0; i < 8; ++i) {
    if (*c != ' ') return true;
    ++c;
    const std::uint64_t number = hexadecimal(c);
    if (i == 6) thread.sp = number;
    if (i == 7) thread.pc = number;
  }
  is_blocked = true;
  return true;
}

bool Stop::interrupt(Thread& thread) {
  const long result = ptrace(PTRACE_INTERRUPT, thread.id);
  thread.hold = result == 0 ? Hold::kInterrupted : Hold::kGone;
  return result == 0 || result == -ESRCH;
}

bool Stop::has_signal(const Thread& thread) {
  char status[2048] = {};
  const int fd = open_of_thread(tasks_, thread.id, "status");
  if (fd < 0) return true;
  raw(SYS_read, fd, raw_address(status), sizeof status - 1);
  raw(SYS_close, fd);
  const char* own = value_of(status, "SigPnd:");
  const char* shared = value_of(status, "ShdPnd:");
  const char* mask = value_of(status, "SigBlk:");
  if (own == nullptr || shared == nullptr || mask == nullptr) return true;
  const std::uint64_t pending = hexadecimal(own) | hexadecimal(shared);
  const std::uint64_t blocked = hexadecimal(mask);
  return (pending & ~blocked) != 0;
}

// It ran when it was looked at, and has entered a call since that our interruption ended. It begins the call again,
// unless a signal is there that would have ended it, too. A connect() cannot be begun again.
void Stop::restart_call(const Thread& thread, user_regs_struct& registers) {
  if (static_cast<long>(registers.orig_rax) < 0 || static_cast<long>(registers.rax) != -EINTR) return;
  if (registers.orig_rax == SYS_connect || has_signal(thread)) return;
  registers.rax = registers.orig_rax;
  registers.rip -= 2;
  registers.orig_rax = ~0ull;
  ptrace(PTRACE_SETREGS, thread.id, 0, raw_address(&registers));
}

void Stop::note_stop(Thread& thread, int status) {
  if (!WIFSTOPPED(status)) {
    thread.hold = Hold::kGone;
    return;
  }
  user_regs_struct registers;
  if (ptrace(PTRACE_GETREGS, thread.id, 0, raw_address(&registers)) != 0) {
    thread.hold = Hold::kGone;
    return;
  }
  const int event = status >> 16;
  thread.signal = event != 0 ? 0 : WSTOPSIG(status);
  if (event == PTRACE_EVENT_STOP) restart_call(thread, registers);
  long child = 0;
  if (event != 0 && event != PTRACE_EVENT_STOP && ptrace(PTRACE_GETEVENTMSG, thread.id, 0, raw_address(&child)) == 0) {
    note_child(child);
  }
  thread.hold = Hold::kStopped;
  thread.pc = registers.rip;
  thread.sp = registers.rsp;
  ++report_.threads;
}

void Stop::note_child(long child) {
  // A thread of this process is found in the list of threads.
  const int fd = open_of_thread(tasks_, child, "comm");
  if (fd >= 0) {
    raw(SYS_close, fd);
  } else if (child_count_ < kMaxChildren) {
    children_[child_count_++] = child;
  }
}

// False: it has not stopped yet.
bool Stop::see_stop(Thread& thread) {
  int status = 0;
  const long got = raw(SYS_wait4, thread.id, raw_address(&status), __WALL | WNOHANG, 0);
  if (got == thread.id) {
    note_stop(thread, status);
  } else if (got == -ECHILD || got == -ESRCH) {
    thread.hold = Hold::kGone;
  }
  return got != 0;
}

bool Stop::wait_for_stop(Thread& thread, std::uint64_t deadline) {
  while (thread.hold == Hold::kInterrupted && !see_stop(thread)) {
    if (now() > deadline) return false;
    rest();
  }
  return true;
}

bool Stop::wait_until_stopped(std::uint64_t deadline) {
  return std::all_of(threads_, threads_ + count_, [&](Thread& thread) { return wait_for_stop(thread, deadline); });
}

// Interrupts what runs. Sets `settled` to false where something does.
StopResult Stop::stop_running(bool& settled) {
  for (std::size_t i = 0; i < count_; ++i) {
    Thread& thread = threads_[i];
    if (thread.hold != Hold::kNew && thread.hold != Hold::kGuarded) continue;
    const std::uint64_t pc = thread.pc;
    bool is_blocked = false;
    long call = 0;
    if (!look(thread, is_blocked, call)) {
      thread.hold = Hold::kGone;
      continue;
    }
    // Of a vfork() the child runs in this memory, and cannot be seen; others copy memory just now, guards and all.
    const bool forks = call == SYS_vfork || call == SYS_fork || call == SYS_clone || call == SYS_clone3;
    if (is_blocked && forks) return StopResult::kBusy;
    if (is_blocked && thread.hold == Hold::kGuarded && thread.pc == pc) continue;
    settled = false;
    if (is_blocked) {
      thread.hold = Hold::kNew;
    } else if (!interrupt(thread)) {
      return StopResult::kNotPermitted;
    }
  }
  return StopResult::kDone;
}

// When it returns kDone every thread is stopped, or will wait at a guard. Each round settles what is new: threads
// that were started, and those that came back from their call before the guard was there. No guard is placed before
// all that ran have stopped, so that no fork copies it unseen.
StopResult Stop::stop_all() {
  const std::uint64_t deadline = now() + patience_;
  for (bool settled = false; !settled;) {
    settled = true;
    bool grown = false;
    if (!list(grown)) return StopResult::kNotPermitted;
    if (grown) settled = false;
    for (std::size_t i = 0; i < count_; ++i) {
      if (threads_[i].hold != Hold::kNew || threads_[i].fd >= 0) continue;
      const StopResult result = seize(threads_[i]);
      if (result != StopResult::kDone) return result;
    }
    if (began_ == 0) began_ = now();
    const StopResult result = stop_running(settled);
    if (result != StopResult::kDone) return result;
    if (!wait_until_stopped(deadline)) return StopResult::kBusy;
    if (settled) break;
    if (!guard_blocked()) return StopResult::kNotPermitted;
    if (!wait_until_stopped(deadline)) return StopResult::kBusy;
  }
  return StopResult::kDone;
}

void Stop::detach(Thread& thread) {
  if (thread.hold != Hold::kStopped) return;
  ptrace(PTRACE_DETACH, thread.id, 0, thread.signal);
  thread.hold = Hold::kGone;
}

// Those that wait in their calls are let go by the helper's end, which does not disturb them. It would disturb those
// that were interrupted and have not come to their stop, where this was given up: the call that they have entered
// meanwhile would end with EINTR. They are waited for, and nobody else is held.
void Stop::let_go() {
  for (std::size_t i = 0; i < count_; ++i) detach(threads_[i]);
  if (began_ != 0) report_.stopped_ns = now() - began_;
  const std::uint64_t end = now() + kLastPatience;
  for (std::size_t i = 0; i < count_; ++i) {
    Thread& thread = threads_[i];
    wait_for_stop(thread, end);
    if (thread.hold != Hold::kGone) see_stop(thread);  // what else stops it: a signal
    detach(thread);
    if (thread.fd >= 0) raw(SYS_close, thread.fd);
  }
  for (std::size_t i = 0; i < child_count_; ++i) let_child_go(children_[i]);
}

// Another thread of the program may exec, or the program be killed, at any time. Then this process has the memory for
// itself, and ends like any other time: a child that was forked meanwhile may still wait at a guard.
bool Stop::is_awaited() const { return raw(SYS_getppid) == process_ && raw(SYS_tgkill, process_, self_, 0) != -ESRCH; }

// Threads wait for this process while they are stopped: beside others that are busy for 0.3 to 4 ms so, and for 10 to
// 16 where that is not allowed (1,000 probes in 8 threads, bench/). A program that filters its calls may not do so.
void Stop::be_first() const {
  char status[4096] = {};
  const int fd = open_of_thread(tasks_, self_, "status");
  if (fd < 0) return;
  raw(SYS_read, fd, raw_address(status), sizeof status - 1);
  raw(SYS_close, fd);
  const char* filters = value_of(status, "Seccomp:");
  if (filters == nullptr || *filters != '0') return;
  const sched_param lowest = {1};
  if (raw(SYS_sched_setscheduler, 0, SCHED_FIFO | SCHED_RESET_ON_FORK, raw_address(&lowest)) == 0) return;
  constexpr long kFirst = -20;
  raw(SYS_setpriority, PRIO_PROCESS, 0, kFirst);
}

void Stop::run() {
  be_first();
  while (__atomic_load_n(&go, __ATOMIC_ACQUIRE) == 0) {  // pairs with run_helper()
    if (!is_awaited()) return;
    rest();
  }
  const StopResult result = stop_all();
  if (result == StopResult::kDone) write();
  remove_guards();
  let_go();
  report_.result = result;
  has_ended_ = true;
}

}  // namespace landtrace::agent
#endif
