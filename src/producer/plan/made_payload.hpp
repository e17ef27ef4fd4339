// The payload of an event that is made out of something else: of another event's fields, or of registers.
#pragma once

#include "arch/registers.hpp"
#include "plan/event_probe.hpp"

namespace landtrace::plan {

using enum arch::Register;
using arch::Register;

inline constexpr std::uint32_t kKeptArguments = 6;

struct MadeOf {
  // Another event's payload.
  const Segment* segments = nullptr;
  std::uint32_t segment_count = 0;
  // Or a place in code, and the registers there.
  const std::uint64_t* registers = nullptr;  // [kRegisters]
  std::uint64_t place = 0;
  // Of a return: the call's arguments, of those that came in registers.
  const std::uint64_t* kept = nullptr;  // [kKeptArguments]
  // What stands before the values (EventProbePlan::header).
  std::uint64_t header[2] = {};
};

// Makes the event of `plan` if somebody listens to it. The caller is inside a Section.
void emit_made(const View& view, const Thread& thread, const EventProbePlan& plan, const MadeOf& from);

}  // namespace landtrace::plan
