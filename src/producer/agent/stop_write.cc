// No thread is left in what changes, and it is written.
#include <linux/ptrace.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstring>

#include "agent/code_bytes.hpp"
#include "agent/stop.hpp"

#if defined(__x86_64__)
namespace landtrace::agent {

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

}  // namespace landtrace::agent
#endif
