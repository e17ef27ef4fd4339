// The check of a payload's dynamic locations, as the data plane runs it: over plain memory, without
// allocation, bounded by the number of fields.
#pragma once

#include <cstdint>

namespace landtrace::event {

// Lives in shared memory, in a published plan.
struct DynamicFieldCheck {
  static constexpr std::uint16_t kRelative = 1;    // __rel_loc: the offset counts from the end of the field
  static constexpr std::uint16_t kTerminated = 2;  // the data must end with a NUL (types that hold "char")

  std::uint16_t payload_offset;  // where the u32 location stands in the payload (entry offset - 8)
  std::uint16_t flags;
};
static_assert(sizeof(DynamicFieldCheck) == 4);

// True when every location lies within the payload and ends as it must (otherwise write() gives EFAULT).
// `size` must be at least the event's min_size.
bool payload_is_valid(const DynamicFieldCheck* checks, std::uint32_t count, const void* payload,
                      std::uint32_t size);

}  // namespace landtrace::event
