#include "cli/lines/wall_clock.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace landtrace::cli {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kUsPerSecond = 1'000'000;
constexpr std::int64_t kNsPerUs = 1000;

std::int64_t now_ns(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return time.tv_sec * kNsPerSecond + time.tv_nsec;
}

std::string zone_text(long seconds_east) {
  if (seconds_east == 0) return "+00:00";
  const long minutes = std::labs(seconds_east) / 60;
  return fmt::format("{}{:02}:{:02}", seconds_east < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

}  // namespace

// The thread may be interrupted between two clocks: of some tries the one that took least.
std::int64_t WallClock::offset_now() {
  std::int64_t shortest = INT64_MAX;
  std::int64_t offset = 0;
  for (int i = 0; i < 5; ++i) {
    const std::int64_t before = now_ns(CLOCK_MONOTONIC);
    const std::int64_t wall = now_ns(CLOCK_REALTIME);
    const std::int64_t after = now_ns(CLOCK_MONOTONIC);
    if (after - before >= shortest) continue;
    shortest = after - before;
    offset = wall - (before + shortest / 2);
  }
  return offset;
}

void WallClock::find_second(std::int64_t second) {
  const std::time_t time = second;
  std::tm parts{};
  if ((zone_ == Zone::kUtc ? ::gmtime_r(&time, &parts) : ::localtime_r(&time, &parts)) == nullptr) parts = {};
  before_ = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                        parts.tm_hour, parts.tm_min, parts.tm_sec);
  behind_ = zone_ == Zone::kUtc ? "Z" : zone_text(parts.tm_gmtoff);
  second_ = second;
}

std::string WallClock::text(std::uint64_t time_ns) {
  const std::int64_t us = (static_cast<std::int64_t>(time_ns) + offset_ns_ + kNsPerUs / 2) / kNsPerUs;
  if (us / kUsPerSecond != second_) find_second(us / kUsPerSecond);
  return fmt::format("{}{:06}{}", before_, us % kUsPerSecond, behind_);
}

}  // namespace landtrace::cli
