#include "agent/other_threads.hpp"

#include <asm/unistd.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <linux/ptrace.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <ctime>

#include "agent/raw.hpp"

namespace landtrace::agent {
namespace {

constexpr std::uint64_t kPage = 4096;
using AnyWord [[gnu::aligned(1), gnu::may_alias]] = std::uint64_t;

}  // namespace

void synchronize_code() {
  constexpr long kSyncCore = MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE;
  if (raw(SYS_membarrier, kSyncCore, 0) == 0) return;
  raw(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0);
  // Without it, that the pages' protection changes back interrupts all CPUs, too.
  raw(SYS_membarrier, kSyncCore, 0);
}

void store(std::uint64_t address, const std::uint8_t* bytes, std::size_t size) {
  std::uint64_t offset = address % 8;
  const bool is_aligned = offset + size <= 8;
  // Of 8 other bytes none is on a page on which there is none of those.
  if (!is_aligned) offset = (address + 7) / kPage == (address + size - 1) / kPage ? 0 : 8 - size;
  const std::uint64_t begin = address - offset;
  std::uint64_t next = *reinterpret_cast<const volatile AnyWord*>(begin);
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t shift = (offset + i) * 8;
    next = (next & ~(0xffull << shift)) | (std::uint64_t{bytes[i]} << shift);
  }
  if (is_aligned) {
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(begin), next, __ATOMIC_RELEASE);  // pairs with synchronize_code()
  } else {
    *reinterpret_cast<volatile AnyWord*>(begin) = next;
  }
}

#if defined(__x86_64__)
namespace {

constexpr std::size_t kMaxThreads = 8192;
constexpr std::size_t kMaxGuards = 64;
constexpr std::size_t kMaxChildren = 64;
constexpr std::size_t kHelperStack = 64 << 10;
constexpr std::uint64_t kCacheLine = 64;

enum class Hold : std::uint8_t {
  kNew,          // not looked at yet
  kInterrupted,  // will stop
  kStopped,
  kGuarded,  // blocked in a call, with a guard behind it
  kGone,
};
struct Thread {
  long id;
  int fd;  // its `syscall` file; -1: not opened yet
  Hold hold;
  int signal;  // what it stopped for, to be delivered
  std::uint64_t pc;
  std::uint64_t sp;
};
// Two bytes that are a jump to itself for a while.
struct Guard {
  std::uint64_t address;
  std::uint8_t bytes[2];
  int protection;  // of its page
  bool placed;
};
constexpr std::uint8_t kJumpToItself[2] = {0xeb, 0xfe};

std::uint64_t now() {
  timespec time = {};
  raw(SYS_clock_gettime, CLOCK_MONOTONIC, raw_address(&time));
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

// For whoever looks after the helper was killed in between.
void keep_order() {
  std::atomic_signal_fence(std::memory_order_seq_cst);  // pairs with the wait for the helper in run_helper()
}

void rest() {
  const timespec time = {0, 20'000};
  raw(SYS_nanosleep, raw_address(&time), 0);
}

long ptrace(long request, long thread, long address = 0, long data = 0) {
  return raw(SYS_ptrace, request, thread, address, data);
}

// "TID/NAME" for openat().
void append(char*& out, std::uint64_t number) {
  char digits[20];
  unsigned count = 0;
  do digits[count++] = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  while (count != 0) *out++ = digits[--count];
}
int open_of_thread(int tasks, long thread, const char* name) {
  char path[64];
  char* out = path;
  append(out, static_cast<std::uint64_t>(thread));
  *out++ = '/';
  for (const char* c = name; *c != '\0'; ++c) *out++ = *c;
  *out = '\0';
  return static_cast<int>(raw(SYS_openat, tasks, raw_address(path), O_RDONLY | O_CLOEXEC));
}

std::uint64_t hexadecimal(const char*& text) {
  if (text[0] == '0' && text[1] == 'x') text += 2;
  std::uint64_t number = 0;
  for (;; ++text) {
    const unsigned digit = static_cast<unsigned char>(*text);
    if (digit >= '0' && digit <= '9') {
      number = number * 16 + (digit - '0');
    } else if (digit >= 'a' && digit <= 'f') {
      number = number * 16 + (digit - 'a' + 10);
    } else {
      return number;
    }
  }
}

// What stands behind a name and a tabulator at the beginning of a line; nullptr: there is none.
const char* value_of(const char* text, const char* name) {
  for (const char* c = text; *c != '\0'; ++c) {
    if (c != text && c[-1] != '\n') continue;
    std::size_t i = 0;
    while (name[i] != '\0' && c[i] == name[i]) ++i;
    if (name[i] == '\0' && c[i] == '\t') return c + i + 1;
  }
  return nullptr;
}

// An instruction that begins so has at least two bytes, so no thread stands at the second.
bool is_long(std::uint8_t first) {
  if (first >= 0x40 && first <= 0x4f) return true;  // a prefix
  if (first >= 0x70 && first <= 0x8b) return first != 0x82;
  if (first >= 0xb0 && first <= 0xbf) return true;
  constexpr std::uint8_t kOthers[] = {0x0f, 0x31, 0x33, 0x39, 0x3b, 0x3d, 0x66, 0x8d,
                                      0xc6, 0xc7, 0xe8, 0xe9, 0xeb, 0xf6, 0xf7, 0xff};
  for (const std::uint8_t other : kOthers) {
    if (first == other) return true;
  }
  return false;
}

// Everything that the helper process uses.
class Stop {
 public:
  Stop(std::span<Patch> patches, const std::vector<Mapped>& maps, std::uint64_t patience, int tasks, long self)
      : patches_(patches),
        maps_(maps.data()),
        map_count_(maps.size()),
        patience_(patience),
        tasks_(tasks),
        self_(self),
        process_(raw(SYS_getpid)) {}

  bool allocate() {
    void* memory =
        ::mmap(nullptr, kMaxThreads * sizeof(Thread), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    threads_ = memory == MAP_FAILED ? nullptr : static_cast<Thread*>(memory);
    return threads_ != nullptr;
  }
  ~Stop() {
    if (threads_ != nullptr) ::munmap(threads_, kMaxThreads * sizeof(Thread));
  }
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;

  // In the helper.
  void run();
  // In the program's own thread: what the helper has not come to, should it have been killed.
  void clean_up();
  [[nodiscard]] const StopReport& report() const { return report_; }

  std::uint32_t go = 0;  // set when the helper may begin

 private:
  StopResult stop_all();
  StopResult stop_running(bool& settled);
  bool guard_blocked();
  bool list(bool& grown);
  StopResult seize(Thread& thread);
  bool look(Thread& thread, bool& is_blocked, long& call);
  bool interrupt(Thread& thread);
  bool wait_until_stopped(std::uint64_t deadline);
  void note_stop(Thread& thread, int status);
  void note_child(long child);
  void let_child_go(long child);
  void restart_call(const Thread& thread, user_regs_struct& registers);
  bool has_signal(const Thread& thread);
  bool guard(std::uint64_t pc);
  static bool move(Thread& thread, const Patch& patch);
  void look_through_stack(const Thread& thread);
  void remove_guards();
  void remove_guards_of(long child);
  void mark_occupied(std::uint64_t pc);
  void write();
  void let_go();
  [[nodiscard]] bool is_awaited() const;
  [[nodiscard]] const Mapped* mapping_of(std::uint64_t address) const;
  [[nodiscard]] Patch* within(std::uint64_t pc) const;

  std::span<Patch> patches_;
  const Mapped* maps_;
  std::size_t map_count_;
  std::uint64_t patience_;
  int tasks_;
  long self_;     // the thread that patches
  long process_;  // the program
  Thread* threads_ = nullptr;
  std::size_t count_ = 0;
  Guard guards_[kMaxGuards] = {};
  std::size_t guard_count_ = 0;
  // Processes that were forked meanwhile, with the guards in their memory.
  long children_[kMaxChildren] = {};
  std::size_t child_count_ = 0;
  StopReport report_;
  std::uint64_t began_ = 0;
  bool has_ended_ = false;
  char stack_piece_[16 << 10];
};

const Mapped* Stop::mapping_of(std::uint64_t address) const {
  std::size_t low = 0;
  std::size_t high = map_count_;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (maps_[middle].end <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < map_count_ && maps_[low].holds(address) ? &maps_[low] : nullptr;
}

// The patch in whose bytes behind the first the address lies.
Patch* Stop::within(std::uint64_t pc) const {
  std::size_t low = 0;
  std::size_t high = patches_.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (patches_[middle].address + patches_[middle].size <= pc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < patches_.size() && pc > patches_[low].address ? &patches_[low] : nullptr;
}

struct DirectoryEntry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t size;
  std::uint8_t type;
  char name[1];
};

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

void Stop::let_child_go(long child) {
  int status = 0;
  if (raw(SYS_wait4, child, raw_address(&status), __WALL, 0) != child || !WIFSTOPPED(status)) return;
  for (std::size_t i = 0; i < guard_count_; ++i) {
    const std::uint64_t address = guards_[i].address;
    std::uint64_t word = 0;
    if (ptrace(PTRACE_PEEKTEXT, child, static_cast<long>(address), raw_address(&word)) != 0) continue;
    if (std::memcmp(&word, kJumpToItself, sizeof kJumpToItself) != 0) continue;
    std::memcpy(&word, guards_[i].bytes, sizeof guards_[i].bytes);
    ptrace(PTRACE_POKETEXT, child, static_cast<long>(address), static_cast<long>(word));
  }
  ptrace(PTRACE_DETACH, child);
}

bool Stop::wait_until_stopped(std::uint64_t deadline) {
  for (std::size_t i = 0; i < count_; ++i) {
    Thread& thread = threads_[i];
    while (thread.hold == Hold::kInterrupted) {
      int status = 0;
      const long got = raw(SYS_wait4, thread.id, raw_address(&status), __WALL | WNOHANG, 0);
      if (got == thread.id) {
        note_stop(thread, status);
      } else if (got == -ECHILD || got == -ESRCH) {
        thread.hold = Hold::kGone;
      } else if (now() > deadline) {
        return false;
      } else {
        rest();
      }
    }
  }
  return true;
}

// False where there cannot be one: the thread is stopped instead.
bool Stop::guard(std::uint64_t pc) {
  for (std::size_t i = 0; i < guard_count_; ++i) {
    if (guards_[i].address == pc) return true;
  }
  const Mapped* mapped = mapping_of(pc);
  if (guard_count_ == kMaxGuards || mapped == nullptr || !mapped->holds(pc + 1)) return false;
  if ((mapped->protection & PROT_EXEC) == 0 || pc % kCacheLine == kCacheLine - 1) return false;
  if (!is_long(*reinterpret_cast<const std::uint8_t*>(pc))) return false;
  for (const Patch& patch : patches_) {
    if (pc + sizeof kJumpToItself > patch.address && pc < patch.address + sizeof patch.bytes) return false;
  }
  // Before anything is changed, it is known how it was.
  Guard& guard = guards_[guard_count_];
  guard = {pc, {}, mapped->protection, false};
  std::memcpy(guard.bytes, reinterpret_cast<const void*>(pc), sizeof guard.bytes);
  guard_count_ += 1;
  keep_order();
  const std::uint64_t page = pc & ~(kPage - 1);
  if (raw(SYS_mprotect, page, kPage, mapped->protection | PROT_WRITE) != 0) {
    guard_count_ -= 1;
    return false;
  }
  guard.placed = true;
  keep_order();
  if (pc % 8 != 7) {
    store(pc, kJumpToItself, sizeof kJumpToItself);
  } else {
    // Within a cache line; nobody runs here but who comes back from its call, whose first fetch is of both bytes.
    *reinterpret_cast<volatile std::uint16_t*>(pc) = 0xfeeb;
  }
  return true;
}

void Stop::remove_guards() {
  for (std::size_t i = guard_count_; i-- > 0;) {
    Guard& guard = guards_[i];
    if (!guard.placed) continue;
    if (guard.address % 8 != 7) {
      store(guard.address, guard.bytes, sizeof guard.bytes);
    } else {
      std::uint16_t both = 0;
      std::memcpy(&both, guard.bytes, sizeof both);
      *reinterpret_cast<volatile std::uint16_t*>(guard.address) = both;
    }
    keep_order();
    guard.placed = false;
  }
  if (guard_count_ != 0) synchronize_code();
  // A page with patches is still to be writable; whoever made it so changes that back.
  for (std::size_t i = 0; i < guard_count_; ++i) {
    const std::uint64_t page = guards_[i].address & ~(kPage - 1);
    const auto there = [page](const Patch& patch) {
      return patch.address - page < kPage || patch.address + sizeof patch.bytes - 1 - page < kPage;
    };
    if (std::any_of(patches_.begin(), patches_.end(), there)) continue;
    raw(SYS_mprotect, page, kPage, guards_[i].protection);
  }
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

// Behind the calls in which the others are.
bool Stop::guard_blocked() {
  bool guarded = false;
  for (std::size_t i = 0; i < count_; ++i) {
    Thread& thread = threads_[i];
    if (thread.hold != Hold::kNew) continue;
    if (guard(thread.pc)) {
      thread.hold = Hold::kGuarded;
      guarded = true;
    } else if (!interrupt(thread)) {
      return false;
    }
  }
  if (guarded) synchronize_code();
  return true;
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

// Out of the bytes, to the same instruction elsewhere: by one call, so that the thread may be let go before and behind
// it. One whose call the kernel is going to begin again is to find that where it was.
bool Stop::move(Thread& thread, const Patch& patch) {
  const std::uint64_t to = patch.moved[thread.pc - patch.address];
  user_regs_struct registers;
  if (to == 0 || ptrace(PTRACE_GETREGS, thread.id, 0, raw_address(&registers)) != 0) return false;
  if (static_cast<long>(registers.orig_rax) >= 0) return false;
  constexpr long kPc = offsetof(user_regs_struct, rip);
  if (ptrace(PTRACE_POKEUSR, thread.id, kPc, static_cast<long>(to)) != 0) return false;
  thread.pc = to;
  return true;
}

void Stop::mark_occupied(std::uint64_t pc) {
  // No jump is zero: the patch is left out.
  if (Patch* patch = within(pc); patch != nullptr) patch->bytes[0] = 0;
}

// A thread that is in a signal handler may have been within the bytes when the signal came.
void Stop::look_through_stack(const Thread& thread) {
  const Mapped* stack = mapping_of(thread.sp);
  std::uint64_t end = stack != nullptr ? stack->end : thread.sp + (256 << 10);
  const std::uint64_t lowest = patches_.front().address;
  const std::uint64_t highest = patches_.back().address + patches_.back().size;
  const long process = raw(SYS_getpid);
  for (std::uint64_t at = thread.sp & ~7ull; at < end;) {
    const std::uint64_t wanted = std::min<std::uint64_t>(end - at, sizeof stack_piece_);
    iovec here = {stack_piece_, wanted};
    iovec there = {reinterpret_cast<void*>(at), wanted};
    const long got = raw(SYS_process_vm_readv, process, raw_address(&here), 1, raw_address(&there), 1, 0);
    if (got < 8) return;
    for (long i = 0; i + 8 <= got; i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, stack_piece_ + i, sizeof word);
      if (word > lowest && word < highest) mark_occupied(word);
    }
    at += static_cast<std::uint64_t>(got) & ~7ull;
  }
}

void Stop::write() {
  for (std::size_t i = 0; i < count_; ++i) {
    Thread& thread = threads_[i];
    if (thread.hold == Hold::kGuarded) mark_occupied(thread.pc);
    if (thread.hold == Hold::kStopped) {
      const Patch* patch = within(thread.pc);
      if (patch != nullptr && !move(thread, *patch)) mark_occupied(thread.pc);
    }
    if (thread.hold == Hold::kStopped || thread.hold == Hold::kGuarded) look_through_stack(thread);
  }
  for (Patch& patch : patches_) {
    if (patch.bytes[0] == 0) continue;
    store(patch.address, patch.bytes, patch.size);
    patch.written = true;
  }
  synchronize_code();
}

// Those that wait in their calls are let go by the helper's end, which does not disturb them.
void Stop::let_go() {
  for (std::size_t i = 0; i < child_count_; ++i) let_child_go(children_[i]);
  for (std::size_t i = 0; i < count_; ++i) {
    Thread& thread = threads_[i];
    if (thread.hold != Hold::kStopped && thread.hold != Hold::kGone) {
      int status = 0;
      if (raw(SYS_wait4, thread.id, raw_address(&status), __WALL | WNOHANG, 0) == thread.id && WIFSTOPPED(status)) {
        thread.hold = Hold::kStopped;
        thread.signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
      }
    }
    if (thread.hold == Hold::kStopped) ptrace(PTRACE_DETACH, thread.id, 0, thread.signal);
    if (thread.fd >= 0) raw(SYS_close, thread.fd);
  }
}

// Another thread of the program may exec, or the program be killed, at any time. Then this process has the memory for
// itself, and ends like any other time: a child that was forked meanwhile may still wait at a guard.
bool Stop::is_awaited() const {
  return raw(SYS_getppid) == process_ && raw(SYS_tgkill, process_, self_, 0) != -ESRCH;
}

void Stop::run() {
  while (__atomic_load_n(&go, __ATOMIC_ACQUIRE) == 0) {  // pairs with run_helper()
    if (!is_awaited()) return;
    rest();
  }
  const StopResult result = stop_all();
  if (result == StopResult::kDone) write();
  remove_guards();
  let_go();
  if (began_ != 0) report_.stopped_ns = now() - began_;
  report_.result = result;
  has_ended_ = true;
}

void Stop::clean_up() {
  if (has_ended_) return;
  remove_guards();
  for (std::size_t i = 0; i < child_count_; ++i) remove_guards_of(children_[i]);
}

// Of a child that runs already.
void Stop::remove_guards_of(long child) {
  for (std::size_t i = 0; i < guard_count_; ++i) {
    std::uint8_t bytes[sizeof kJumpToItself] = {};
    iovec here = {bytes, sizeof bytes};
    iovec there = {reinterpret_cast<void*>(guards_[i].address), sizeof bytes};
    const long got = raw(SYS_process_vm_readv, child, raw_address(&here), 1, raw_address(&there), 1, 0);
    if (got != sizeof bytes || std::memcmp(bytes, kJumpToItself, sizeof bytes) != 0) continue;
    here.iov_base = guards_[i].bytes;
    raw(SYS_process_vm_writev, child, raw_address(&here), 1, raw_address(&there), 1, 0);
  }
}

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
  if (let_trace) raw(SYS_prctl, PR_SET_PTRACER, 0);
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
