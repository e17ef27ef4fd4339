// Marks the stretch in which a thread may hold a plan, so that the owner knows when nobody does any more.
//
//   a producer's thread                            the owner (segments/grace.cc)
//   -------------------                            -----------------------------
//   section = number, depth 1     (plain store)    publish the new plan
//   load the plan                                  membarrier(GLOBAL_EXPEDITED)
//   ... use it ...                                 look at all slots: which threads are inside?
//   section = number + 1, depth 0 (release store)  for each: wait until number or depth says that it left
//                                                  free the old plan
//
// The thread makes two stores to its own slot and no fence. The fence is the owner's: membarrier() puts a full barrier
// into every running thread of the registered processes. A thread whose barrier comes before its first store will load
// the new plan; one whose barrier comes behind it is seen inside. The release store at the end pairs with the acquire
// loads of Grace: what is freed is not read any more.
//
// A signal handler that emits inside an emit leaves the slot as it found it, so that the interrupted section goes on
// undisturbed.
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
    // Pairs with the acquire loads in Grace::look_for_readers() and Grace::poll().
    __atomic_store_n(&slot_.section, outermost ? entry_ + kDepthMask + 1 : entry_, __ATOMIC_RELEASE);
  }
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

 private:
  ThreadSlot& slot_;
  std::uint64_t entry_;
};

}  // namespace landtrace::plan
