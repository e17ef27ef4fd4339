// The entry point of the data plane: an event happens, and its plan runs in the thread that it happened in.
// Async-signal-safe; no lock, no system call, no allocation; may be killed at any instruction.
#pragma once

#include "ring/writer.hpp"
#include "plan/segments.hpp"

namespace landtrace::plan {

using ring::Segment;

// A process's view of the domain that it is attached to.
struct View {
  const ControlSegment* control = nullptr;
  DataSegment* data = nullptr;
  std::uint32_t user = 0;  // index of the process's user in consumer positions
};

// A thread's place in the data plane.
struct Thread {
  ThreadSlot* slot = nullptr;
  ring::WriteMode mode{};
  std::uint32_t tid = 0;
};

template <typename T>
const T* control_at(const View& view, std::uint32_t offset) {
  return reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(view.control) + offset);
}

inline bool owner_died(const View& view) {
  const auto* word = reinterpret_cast<const std::uint32_t*>(&view.control->owner_alive);
  return (__atomic_load_n(word, __ATOMIC_RELAXED) & kOwnerDied) != 0;
}

// True when somebody listens to the event.
inline bool is_enabled(const View& view, std::uint32_t event) {
  return __atomic_load_n(&view.control->events[event].plan, __ATOMIC_RELAXED) != 0;
}

// Runs the plan of `event` (below kMaxEvents). False when nobody listens. `size` is the sum of the segments, at
// most ring::kMaxPayload, and was checked against the event's min_size.
bool emit(const View& view, const Thread& thread, std::uint32_t event, const Segment* segments,
          std::uint32_t segment_count, std::uint32_t size);

// The same for a caller that is inside a Section already.
bool emit_in_section(const View& view, const Thread& thread, std::uint32_t event, const Segment* segments,
                     std::uint32_t segment_count, std::uint32_t size);

}  // namespace landtrace::plan
