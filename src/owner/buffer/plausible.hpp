// How many events there can have been in a ring. What a ring says of that is its user's to write, and goes into totals
// that others read: nobody gains more by making a number up than by emitting as fast as the machine can.
#pragma once

#include <cstdint>

namespace landtrace::buffer {

// In ticks of any raw clock; an event takes longer.
inline constexpr std::uint64_t kTicksOfAnEvent = 4;
// For clocks that are read a little earlier or later than the ring.
inline constexpr std::uint64_t kEventsOfTolerance = 1 << 16;

inline bool can_have_happened(std::uint64_t events, std::uint64_t since, std::uint64_t now) {
  return events <= (now > since ? (now - since) / kTicksOfAnEvent : 0) + kEventsOfTolerance;
}

}  // namespace landtrace::buffer
