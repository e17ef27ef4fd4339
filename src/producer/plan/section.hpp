// Marks the stretch in which a thread may hold a plan, so that the owner knows when nobody does any more.
//
// The thread makes two plain stores to its own slot and no fence. The owner publishes a new plan, calls
// membarrier(GLOBAL_EXPEDITED), which puts a full barrier into every running thread of the registered
// processes, and then looks at the slots: a thread that it sees outside will find the new plan; one inside is
// waited for until its number has grown or its depth is 0. A signal handler that emits inside an emit leaves
// the slot as it found it, so the interrupted section goes on undisturbed.
#pragma once

#include "plan/segments.hpp"

namespace landtrace::plan {

inline constexpr std::uint64_t kDepthMask = 0xffff;

class Section {
 public:
  explicit Section(ThreadSlot& slot) : slot_(slot), entry_(slot.section) {
    __atomic_store_n(&slot_.section, entry_ + 1, __ATOMIC_RELAXED);
    asm volatile("" ::: "memory");  // the fence is the owner's membarrier
  }
  ~Section() {
    const bool outermost = (entry_ & kDepthMask) == 0;
    __atomic_store_n(&slot_.section, outermost ? entry_ + kDepthMask + 1 : entry_, __ATOMIC_RELEASE);
  }
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

 private:
  ThreadSlot& slot_;
  std::uint64_t entry_;
};

}  // namespace landtrace::plan
