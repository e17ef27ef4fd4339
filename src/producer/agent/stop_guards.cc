// Threads that are blocked in a call find a jump to itself behind it.
#include <linux/ptrace.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "agent/code_bytes.hpp"
#include "agent/stop.hpp"

#if defined(__x86_64__)
namespace landtrace::agent {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kCacheLine = 64;

// For whoever looks after the helper was killed in between.
void keep_order() {
  std::atomic_signal_fence(std::memory_order_seq_cst);  // pairs with the wait for the helper in run_helper()
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

}  // namespace

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

}  // namespace landtrace::agent
#endif
