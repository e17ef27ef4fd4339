// How far another machine's clock is from one's own, as NTP finds it out: a question there and its answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace landtrace::fleet {

// What is to be added to times of the clock here for times of the clock there, and how much that may be wrong.
struct ClockOffset {
  std::int64_t offset_ns = 0;
  std::uint64_t bound_ns = 0;

  friend bool operator==(const ClockOffset&, const ClockOffset&) = default;
};

// One question. Nanoseconds; the second and the third are of the clock there.
struct RoundTrip {
  std::uint64_t asked_ns = 0;
  std::uint64_t heard_ns = 0;
  std::uint64_t answered_ns = 0;
  std::uint64_t came_ns = 0;
};

// By the one that was under way for the shortest time, whose half is the bound. nullopt: none of them makes sense.
std::optional<ClockOffset> best_of(const std::vector<RoundTrip>& trips);

// "HEARD ANSWERED".
std::string clock_answer(std::uint64_t heard_ns, std::uint64_t answered_ns);
// The answer to a question. EBADMSG.
Result<RoundTrip> round_trip(std::uint64_t asked_ns, const std::string& answer, std::uint64_t came_ns);

}  // namespace landtrace::fleet
