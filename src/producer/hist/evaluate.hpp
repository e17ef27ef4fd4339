// What a histogram does at an event, in the thread in which it happened, in the kernel's order: it puts the key
// together; looks up what it refers to in other histograms, and ends where one of these is missing; finds the key's
// element, or inserts one; counts the hit and adds the values; sets its variables; runs its actions.
//
// Async-signal-safe: no lock, no allocation, no recursion of its own; may be killed at any instruction. Needs some 2
// KiB of stack, and four more where an action makes an event that may have more than half a KiB.
#pragma once

#include "abi/entry.hpp"
#include "arch/clock.hpp"
#include "arch/write.hpp"
#include "hist/layout.hpp"

namespace landtrace::hist {

// Where an event happens: what of it is not in its payload, and what actions do there. Asked only where a plan wants
// it.
class Surroundings {
 public:
  virtual std::uint32_t cpu() = 0;
  // kCommSize bytes, NULs behind the name.
  virtual const char* comm() = 0;
  // Stores at most kStackFrames addresses, the nearest first; returns how many.
  virtual std::uint32_t capture_stack(std::uint64_t* frames) = 0;
  // Lets the event of that slot happen, with this payload. False: it would be nested too deep.
  virtual bool make_event(std::uint32_t slot, const std::byte* payload, std::uint32_t size) = 0;
  // Of the instance whose snapshots the cell counts.
  virtual void take_snapshot(std::uint32_t cell) = 0;

 protected:
  ~Surroundings() = default;
};

// When an event happened, by the clocks that its histograms want. One for all histograms of the event.
class Moment {
 public:
  // `area` is the thread's where it writes by restartable sequences, else nullptr.
  explicit Moment(arch::RawClock raw, arch::RseqArea* area = nullptr) : raw_(raw), area_(area) {}
  ~Moment() { let_go(); }
  Moment(const Moment&) = delete;
  Moment& operator=(const Moment&) = delete;

  std::uint64_t in(std::uint8_t clock) {
    if (!is_known_ || clock != clock_) read(clock);
    return time_;
  }
  // The same as a record has it, for arch::write_rseq_held(): an event that this one makes has its time. 0: not held.
  [[nodiscard]] std::uint64_t held() const { return held_; }
  // Before a system call.
  void let_go() {
    if (held_ != 0) arch::let_time_go(area_);
    held_ = 0;
  }

 private:
  void read(std::uint8_t clock);

  arch::RawClock raw_;
  std::uint8_t clock_ = 0;
  bool is_known_ = false;
  std::uint64_t time_ = 0;
  arch::RseqArea* area_;
  std::uint64_t held_ = 0;
};

struct Event {
  abi::Payload payload;
  // The entry's common header: type, flags, preempt count, pid.
  std::uint64_t header;
  Moment& moment;
  Surroundings& surroundings;
};

// `data` is the data segment to which the offsets of tables refer. The plan is not paused.
void count(const HistPlan& plan, std::byte* data, const Event& event);

}  // namespace landtrace::hist
