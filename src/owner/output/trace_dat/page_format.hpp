// The kernel's ring-buffer page, as header_page and header_event describe it and as trace.dat stores it.
//
//    0  u64 time      of the page's first event; the deltas of the events add up from here
//    8  u64 commit    bits 0-26: bytes of events that follow the header
//                     bit 31: events were missed before this page; bit 30: their number (u64) stands
//                     right after the events
//   16  events
//
// Each event starts on 4 bytes with a u32: bits 0-4 its type, bits 5-31 the nanoseconds since the event
// before it.
//
//    1..28  4 * type bytes of entry follow
//    0      u32: length of the entry + 4, then the entry
//    29     padding: u32 length; with a delta of zero, nothing else is in this page
//    30     time extend: u32, which are bits 27-58 of the delta
//    31     time stamp: the same, but it holds bits 0-58 of the absolute time
//
// An entry is the common header (u16 event id, u8 flags, u8 preempt count, s32 tid) and the payload.
#pragma once

#include <cstddef>
#include <cstdint>

namespace landtrace::output::trace_dat {

inline constexpr std::size_t kWord = sizeof(std::uint32_t);
inline constexpr std::size_t kPageHeader = 16;
inline constexpr std::size_t kCommitAt = 8;
// Ours; the kernel's are 4096 bytes, in which a payload of 64 KiB would not fit.
inline constexpr std::size_t kPageSize = 128 * 1024;

inline constexpr std::uint64_t kCommitMask = (1u << 27) - 1;
inline constexpr std::uint64_t kMissedEvents = 1u << 31;
inline constexpr std::uint64_t kMissedStored = 1u << 30;

inline constexpr std::uint32_t kTypeLong = 0;
inline constexpr std::uint32_t kTypePadding = 29;
inline constexpr std::uint32_t kTypeTimeExtend = 30;
inline constexpr std::uint32_t kTypeTimeStamp = 31;
inline constexpr std::uint32_t kTypeBits = 5;
inline constexpr std::uint32_t kTypeMask = (1u << kTypeBits) - 1;
inline constexpr std::size_t kMaxShortEntry = 28 * 4;

inline constexpr std::uint32_t kDeltaBits = 27;
inline constexpr std::uint64_t kMaxDelta = (1u << kDeltaBits) - 1;
inline constexpr std::uint32_t kTimeBits = 59;  // of a time extend or a time stamp
inline constexpr std::uint64_t kTimeMask = (std::uint64_t{1} << kTimeBits) - 1;

constexpr std::size_t align4(std::size_t size) { return (size + 3) & ~std::size_t{3}; }

}  // namespace landtrace::output::trace_dat
