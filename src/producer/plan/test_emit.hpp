// An event outside of any Section, for tests: whoever emits in the product is inside one for other reasons, too.
#pragma once

#include "plan/emit.hpp"

namespace landtrace::plan {

// As emit_in_section().
inline bool emit(const View& view, const Thread& thread, std::uint32_t event, const Segment* segments,
                 std::uint32_t segment_count, std::uint32_t size) {
  const Section section(*thread.slot);
  return emit_in_section(view, thread, event, segments, segment_count, size);
}

}  // namespace landtrace::plan
