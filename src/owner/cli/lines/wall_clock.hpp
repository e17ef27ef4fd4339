// When events happened by the clock on the wall.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

namespace landtrace::cli {

class WallClock {
 public:
  enum class Zone : std::uint8_t { kUtc, kLocal };

  // `offset_ns`: what to add to the time of an event for nanoseconds since 1970.
  WallClock(Zone zone, std::int64_t offset_ns) : zone_(zone), offset_ns_(offset_ns) {}

  // As now, for the monotonic clock.
  static std::int64_t offset_now();

  // "2026-11-22T21:15:03.123456Z", "2026-11-22T22:15:03.123456+01:00"; rounded as times are in text.
  [[nodiscard]] std::string text(std::uint64_t time_ns);

 private:
  void find_second(std::int64_t second);

  Zone zone_;
  std::int64_t offset_ns_;
  std::int64_t second_ = -1;  // that of these texts
  std::string before_;
  std::string behind_;
};

}  // namespace landtrace::cli
