// The payload of an event that is made out of something else: of another event's fields, or of registers.
#pragma once

#include "plan/word_payload.hpp"

namespace landtrace::plan {

struct MadeOf {
  // Another event's payload.
  const Segment* segments = nullptr;
  std::uint32_t segment_count = 0;
  // Or a place in code, which also stands before the values (EventProbePlan::header).
  const ProbedMoment* probed = nullptr;
};

// Makes the event of `plan` if somebody listens to it. The caller is inside a Section.
void emit_made(const View& view, const Thread& thread, const EventProbePlan& plan, const MadeOf& from);

}  // namespace landtrace::plan
