// The check of a payload's dynamic locations, as the data plane runs it: over plain memory, without
// allocation, bounded by the number of fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace landtrace::abi {

// Lives in shared memory, in a published plan.
struct DynamicFieldCheck {
  static constexpr std::uint16_t kRelative = 1;    // __rel_loc: the offset counts from the end of the field
  static constexpr std::uint16_t kTerminated = 2;  // the data must end with a NUL (types that hold "char")

  std::uint16_t payload_offset;  // where the u32 location stands in the payload (entry offset - 8)
  std::uint16_t flags;
};
static_assert(sizeof(DynamicFieldCheck) == 4);

inline constexpr std::uint32_t kEntryHeader = 8;  // the common header, which locations count but no writer writes

// True when every location lies within the payload and ends as it must (otherwise write() gives EFAULT).
// `fetch(offset, out, size)` copies payload bytes that are there; `size` must be at least the event's min_size.
//
// Positions count from the start of the entry, as in a location. Data may not lie in the common header, and an
// empty string that ends there has no byte to be checked.
template <typename Fetch>
bool payload_is_valid_in(const DynamicFieldCheck* checks, std::uint32_t count, std::uint32_t size, Fetch fetch) {
  const std::uint64_t entry_end = std::uint64_t{size} + kEntryHeader;
  for (std::uint32_t i = 0; i < count; ++i) {
    const DynamicFieldCheck check = checks[i];
    std::uint32_t location = 0;
    fetch(check.payload_offset, &location, sizeof location);
    const std::uint32_t length = location >> 16;
    std::uint32_t begin = location & 0xffff;
    if ((check.flags & DynamicFieldCheck::kRelative) != 0) {
      begin += kEntryHeader + check.payload_offset + static_cast<std::uint32_t>(sizeof location);
    }
    const std::uint32_t end = begin + length;
    if (end > entry_end || (length != 0 && begin < kEntryHeader)) return false;
    // As in the kernel, an empty string too must have a NUL before its end, whoever wrote that byte.
    if ((check.flags & DynamicFieldCheck::kTerminated) == 0 || end <= kEntryHeader) continue;
    char last = 1;
    fetch(end - kEntryHeader - 1, &last, 1);
    if (last != 0) return false;
  }
  return true;
}

// The same for a payload in one piece.
inline bool payload_is_valid(const DynamicFieldCheck* checks, std::uint32_t count, const void* payload,
                             std::uint32_t size) {
  return payload_is_valid_in(checks, count, size, [payload](std::uint64_t offset, void* out, std::size_t n) {
    std::memcpy(out, static_cast<const char*>(payload) + offset, n);
  });
}

}  // namespace landtrace::abi
