// The check of a payload's dynamic locations, as the data plane runs it: over plain memory, without
// allocation, bounded by the number of fields.
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/entry.hpp"
#include "base/shared_layout.hpp"

namespace landtrace::abi {

// One for each dynamic field of an event, in the control segment (EventSlot::checks).
struct DynamicFieldCheck {
  static constexpr std::uint16_t kRelative = 1;    // __rel_loc: the offset counts from the end of the field
  static constexpr std::uint16_t kTerminated = 2;  // the data must end with a NUL (types that hold "char")

  std::uint16_t payload_offset;  // where the u32 location stands in the payload (entry offset - 8)
  std::uint16_t flags;
};
LT_SHARED(DynamicFieldCheck, 4, 2);
LT_SHARED_AT(DynamicFieldCheck, payload_offset, 0);
LT_SHARED_AT(DynamicFieldCheck, flags, 2);

// True when every location lies within the payload and ends as it must (otherwise write() gives EFAULT).
// `payload` is a FlatPayload or a Payload; `size` must be at least the event's min_size.
//
// Data may not lie in the common header, and an empty string that ends there has no byte to be checked.
template <typename AnyPayload>
bool payload_is_valid(const DynamicFieldCheck* checks, std::uint32_t count, const AnyPayload& payload,
                      std::uint32_t size) {
  const std::uint64_t entry_end = std::uint64_t{size} + kEntryHeaderSize;
  for (std::uint32_t i = 0; i < count; ++i) {
    const DynamicFieldCheck check = checks[i];
    const auto word = payload.template load<std::uint32_t>(check.payload_offset);
    const Location where = (check.flags & DynamicFieldCheck::kRelative) != 0
                               ? rel_location(word, kEntryHeaderSize + check.payload_offset + sizeof word)
                               : data_location(word);
    const std::uint64_t end = where.begin + where.length;
    if (end > entry_end || (where.length != 0 && where.begin < kEntryHeaderSize)) return false;
    // As in the kernel, an empty string too must have a NUL before its end, whoever wrote that byte.
    if ((check.flags & DynamicFieldCheck::kTerminated) == 0 || end <= kEntryHeaderSize) continue;
    if (payload.template load<char>(end - kEntryHeaderSize - 1) != 0) return false;
  }
  return true;
}

}  // namespace landtrace::abi
