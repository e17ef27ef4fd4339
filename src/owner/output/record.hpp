// The plain types that all trace file formats share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "event/declaration.hpp"

namespace landtrace::output {

// The largest payload that an event can carry.
inline constexpr std::size_t kMaxPayload = 64 * 1024;

// A count of missed events where only the fact is known.
inline constexpr std::uint64_t kLostUnknown = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t lost_together(std::uint64_t a, std::uint64_t b) {
  return a > kLostUnknown - b ? kLostUnknown : a + b;
}

struct Task {
  std::string comm;
  std::uint32_t tgid = 0;  // 0: not known
};

struct EventType {
  std::uint16_t id = 0;
  std::string system;
  std::string name;
  event::Declaration declaration;
  std::string format;  // the whole `format` file; empty: made from the declaration
  // What was said of its structs (event/description.hpp), whose members are in the declaration then.
  std::string description = {};
};

// One event as it was recorded. The payload belongs to whoever handed out the record.
struct Record {
  std::uint64_t time_ns = 0;
  std::uint32_t cpu = 0;
  std::int32_t tid = 0;
  std::uint16_t event_id = 0;
  std::span<const std::byte> payload;  // without the common header of 8 bytes
};

}  // namespace landtrace::output
