#include "plan/thread_slots.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/system_call.hpp"
#include "plan/section.hpp"

namespace landtrace::plan {
namespace {

// A sequence lock, in which 0 says that the name is being written: see copy_entry() in buffer/task_names.cc.
void leave_name(DataSegment& data, std::uint32_t pid, std::uint32_t tid) {
  TaskEntry& entry = data.tasks[tid % kMaxTasks];
  char comm[sizeof entry.comm] = {};
  system_call(SYS_prctl, PR_GET_NAME, comm);
  __atomic_store_n(&entry.tid, 0, __ATOMIC_RELAXED);
  // The 0, then the name: pairs with the acquire fence there. A release store would let the name overtake it.
  std::atomic_thread_fence(std::memory_order_release);
  entry.pid = pid;
  std::memcpy(entry.comm, comm, sizeof comm);
  // The name, then the tid: pairs with the acquire load there.
  __atomic_store_n(&entry.tid, tid, __ATOMIC_RELEASE);
}

void raise_high(DataSegment& data, std::uint32_t high) {
  std::uint32_t now = __atomic_load_n(&data.thread_high, __ATOMIC_RELAXED);
  while (now < high &&
         !__atomic_compare_exchange_n(&data.thread_high, &now, high, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

ThreadSlot* take_free_slot(DataSegment& data, std::uint32_t tid) {
  const std::uint32_t start = __atomic_load_n(&data.thread_hint, __ATOMIC_RELAXED) % kMaxThreads;
  for (std::uint32_t i = 0; i < kMaxThreads; ++i) {
    const std::uint32_t index = (start + i) % kMaxThreads;
    ThreadSlot& slot = data.threads[index];
    std::uint32_t nobody = 0;
    // Pairs with the swap to 0 in free_dead_thread_slots(): the thread that had the slot has done its last.
    if (__atomic_compare_exchange_n(&slot.tid, &nobody, tid, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      __atomic_store_n(&data.thread_hint, index + 1, __ATOMIC_RELAXED);
      raise_high(data, index + 1);
      return &slot;
    }
  }
  return nullptr;
}

// The pid goes first: see thread_slots.hpp. The release of the swap keeps it so, and pairs with the acquire of that in
// take_free_slot().
bool free_slot(ThreadSlot& slot, std::uint32_t tid) {
  __atomic_store_n(&slot.pid, 0, __ATOMIC_RELAXED);
  return __atomic_compare_exchange_n(&slot.tid, &tid, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

}  // namespace

bool thread_is_gone(std::uint32_t pid, std::uint32_t tid) { return system_call(SYS_tgkill, pid, tid) == -ESRCH; }

ThreadSlot* claim_thread_slot(DataSegment& data, std::uint32_t pid, std::uint32_t tid, std::uint32_t program) {
  // A program that starts many short threads reuses its own slots before it takes new ones.
  const bool at_a_stride = pid != 0 && (__atomic_load_n(&data.thread_hint, __ATOMIC_RELAXED) & 255) == 255;
  if (at_a_stride && free_dead_thread_slots(data, pid) > 0) {
    __atomic_store_n(&data.thread_hint, 0, __ATOMIC_RELAXED);
  }
  ThreadSlot* slot = take_free_slot(data, tid);
  // All taken: those of this process's dead threads first, then those of other processes that have ended.
  for (const std::uint32_t whose : {pid, 0u}) {
    if (slot != nullptr || pid == 0) break;
    if (free_dead_thread_slots(data, whose) > 0) slot = take_free_slot(data, tid);
  }
  if (slot != nullptr) {
    // A dead predecessor may have been inside a section.
    slot->section &= ~0xffffull;
    slot->program = program;
    // Pairs with the acquire loads in free_dead_thread_slots() and free_slots_before_exec(): with this pid go this
    // thread's tid and program.
    __atomic_store_n(&slot->pid, pid, __ATOMIC_RELEASE);
    leave_name(data, pid, tid);
  }
  return slot;
}

void give_thread_slot_back(ThreadSlot& slot, std::uint32_t tid) {
  // Pairs with the swap in take_free_slot().
  if (__atomic_load_n(&slot.tid, __ATOMIC_ACQUIRE) == tid) free_slot(slot, tid);
}

void free_slots_before_exec(DataSegment& data, std::uint32_t pid, std::uint32_t program) {
  const std::uint32_t high = std::min(__atomic_load_n(&data.thread_high, __ATOMIC_RELAXED), kMaxThreads);
  for (std::uint32_t i = 0; i < high; ++i) {
    ThreadSlot& slot = data.threads[i];
    const std::uint32_t tid = __atomic_load_n(&slot.tid, __ATOMIC_RELAXED);
    // Pairs with the release store in claim_thread_slot().
    if (tid == 0 || __atomic_load_n(&slot.pid, __ATOMIC_ACQUIRE) != pid) continue;
    if (slot.program == 0 || slot.program == program) continue;
    // Out of whatever it was in. Pairs with the acquire loads in Grace.
    __atomic_store_n(&slot.section, (slot.section | kDepthMask) + 1, __ATOMIC_RELEASE);
    free_slot(slot, tid);
  }
}

std::uint32_t free_dead_thread_slots(DataSegment& data, std::uint32_t pid) {
  std::uint32_t freed = 0;
  const std::uint32_t high = std::min(__atomic_load_n(&data.thread_high, __ATOMIC_RELAXED), kMaxThreads);
  for (std::uint32_t i = 0; i < high; ++i) {
    ThreadSlot& slot = data.threads[i];
    // Pairs with the swap in take_free_slot().
    const std::uint32_t tid = __atomic_load_n(&slot.tid, __ATOMIC_ACQUIRE);
    // Pairs with the release store in claim_thread_slot().
    const std::uint32_t of = __atomic_load_n(&slot.pid, __ATOMIC_ACQUIRE);
    if (tid == 0 || of == 0 || (pid != 0 && of != pid) || !thread_is_gone(of, tid)) continue;
    if (free_slot(slot, tid)) ++freed;
  }
  return freed;
}

}  // namespace landtrace::plan
