// What a histogram does at an event, in the thread that it happened in, in the kernel's order: the key; what it refers to in
// other histograms, without all of which nothing is done; the element, which is inserted where the key is new; hit count
// and sums; variables; actions.
//
// Async-signal-safe: no lock, no allocation, no recursion of its own; may be killed at any instruction. Needs some 2 KiB of
// stack, and where an action makes an event that may have more than half a KiB, four more.
#pragma once

#include "arch/clock.hpp"
#include "hist/layout.hpp"
#include "hist/payload.hpp"

namespace landtrace::hist {

// What of an event is not in its payload, and what can be done about it. Asked only where a plan wants it.
class Surroundings {
 public:
  virtual std::uint32_t cpu() = 0;
  // kCommSize bytes, NULs behind the name.
  virtual const char* comm() = 0;
  // At most kStackFrames addresses, the nearest first; how many.
  virtual std::uint32_t capture_stack(std::uint64_t* frames) = 0;
  // The event of that slot happens, too, with this payload. False: it cannot, it is nested too deep.
  virtual bool make_event(std::uint32_t slot, const std::byte* payload, std::uint32_t size) = 0;
  // Of the instance to which the cell belongs.
  virtual void take_snapshot(std::uint32_t cell) = 0;

 protected:
  ~Surroundings() = default;
};

// When an event happened, by the clocks that its histograms want. One for all histograms of the event.
class Moment {
 public:
  explicit Moment(arch::RawClock raw) : raw_(raw) {}
  std::uint64_t in(std::uint8_t clock) {
    if (!is_known_ || clock != clock_) read(clock);
    return time_;
  }

 private:
  void read(std::uint8_t clock);

  arch::RawClock raw_;
  std::uint8_t clock_ = 0;
  bool is_known_ = false;
  std::uint64_t time_ = 0;
};

struct Event {
  Payload payload;
  std::uint64_t header;  // the entry's common header: type, flags, preempt count, pid
  Moment& moment;
  Surroundings& surroundings;
};

// `data` is the data segment to which the offsets of tables refer. The plan is not paused.
void count(const HistPlan& plan, std::byte* data, const Event& event);

}  // namespace landtrace::hist
