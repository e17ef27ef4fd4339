#include "fleet/clock_offset.hpp"

#include <charconv>

namespace landtrace::fleet {
namespace {

// Some 146 years: differences of such times fit.
constexpr std::uint64_t kMostTime_ns = 1ull << 62;

bool makes_sense(const RoundTrip& trip) {
  const bool is_in_range = trip.asked_ns < kMostTime_ns && trip.heard_ns < kMostTime_ns &&
                           trip.answered_ns < kMostTime_ns && trip.came_ns < kMostTime_ns;
  return is_in_range && trip.came_ns >= trip.asked_ns && trip.answered_ns >= trip.heard_ns &&
         trip.came_ns - trip.asked_ns >= trip.answered_ns - trip.heard_ns;
}

// The clock there is ahead by no more than there and by no less than back, each way taking no time at least.
ClockOffset offset_of(const RoundTrip& trip) {
  const auto most = static_cast<std::int64_t>(trip.heard_ns) - static_cast<std::int64_t>(trip.asked_ns);
  const auto least = static_cast<std::int64_t>(trip.answered_ns) - static_cast<std::int64_t>(trip.came_ns);
  const std::uint64_t width = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
  return {least + static_cast<std::int64_t>(width / 2), width - width / 2};
}

}  // namespace

std::optional<ClockOffset> best_of(const std::vector<RoundTrip>& trips) {
  std::optional<ClockOffset> best;
  for (const RoundTrip& trip : trips) {
    if (!makes_sense(trip)) continue;
    const ClockOffset offset = offset_of(trip);
    if (!best || offset.bound_ns < best->bound_ns) best = offset;
  }
  return best;
}

std::string clock_answer(std::uint64_t heard_ns, std::uint64_t answered_ns) {
  return std::to_string(heard_ns) + " " + std::to_string(answered_ns);
}

Result<RoundTrip> round_trip(std::uint64_t asked_ns, const std::string& answer, std::uint64_t came_ns) {
  RoundTrip trip{asked_ns, 0, 0, came_ns};
  const char* const end = answer.data() + answer.size();
  const auto heard = std::from_chars(answer.data(), end, trip.heard_ns);
  const bool has_space = heard.ec == std::errc() && heard.ptr != end && *heard.ptr == ' ';
  if (!has_space) return fail(EBADMSG, "an answer of a clock that makes no sense");
  const auto answered = std::from_chars(heard.ptr + 1, end, trip.answered_ns);
  if (answered.ec != std::errc() || answered.ptr != end) {
    return fail(EBADMSG, "an answer of a clock that makes no sense");
  }
  return trip;
}

}  // namespace landtrace::fleet
