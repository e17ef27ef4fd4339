// A stretch of time in slots, and what of a histogram's frames was counted in each: frames have all that was counted up
// to their time, so a slot is the difference of two of them.
//
//      from                                            until
//   ────┼───────────────┼───────────────┼───────────────┼────
//    0  │       1       │       2       │       3       │        slots; every_ns each
//     f3│            f6 │               │   f7      f9  │        the newest frame in each: f3, f6, f9
//         slot 1 = f6 - f3, slot 2 = nothing, slot 3 = f9 - f6
//
// A frame that is not there (lost, or dropped while a store was away) changes no sum: the next one has its counts, in
// that one's slot. A frame that is there twice is one.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"

namespace landtrace::fleet {

struct Period {
  static constexpr std::uint32_t kMostSlots = 10'000;

  std::uint64_t from_ns = 0;
  std::uint64_t until_ns = 0;  // not in it any more
  std::uint64_t every_ns = 0;  // 0: all of it is one slot
  bool is_open = false;        // what comes later is in the last slot: hosts' clocks may be ahead

  // EINVAL with a sentence.
  [[nodiscard]] Result<void> check() const;
  [[nodiscard]] std::uint32_t slots() const;
  [[nodiscard]] std::uint64_t slot_ns() const;
  // 0: before it, 1…slots(), or more: behind it.
  [[nodiscard]] std::uint32_t slot_of(std::uint64_t time_ns) const;
  [[nodiscard]] std::uint64_t begin_of(std::uint32_t slot) const { return from_ns + (slot - 1) * slot_ns(); }
  [[nodiscard]] std::uint64_t end_of(std::uint32_t slot) const;

  friend bool operator==(const Period&, const Period&) = default;
};

// The newest frame that a histogram of one host has in a slot.
struct SeenFrame {
  std::uint32_t slot = 0;
  std::uint64_t sequence = 0;
  std::uint64_t time_ns = 0;
};

// A frame that counts: it is added to one slot and subtracted from another.
struct Pick {
  static constexpr std::uint32_t kNone = ~0u;
  std::uint64_t sequence = 0;
  std::uint64_t time_ns = 0;
  std::uint32_t plus = kNone;
  std::uint32_t minus = kNone;
  // Nobody knows when its counts were made, but that it was before: they are in no slot.
  bool is_unclear = false;

  friend bool operator==(const Pick&, const Pick&) = default;
};

// Of one histogram of one host. `generation`: when it began. Frames may stand in any order, those behind the period are
// passed over.
std::vector<Pick> picks_of(std::vector<SeenFrame> frames, std::uint64_t generation, const Period& period);

}  // namespace landtrace::fleet
