// What is to be traced where: kept in a key-value bucket, read by every host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "event/pattern.hpp"

namespace landtrace::fleet {

// A place in functions of an object, as dynamic_events has it.
struct Probe {
  std::string object = {};  // a path, or the name of a library or a program; "": there is no probe
  std::string place = {};   // "malloc", "malloc+4", "str*"
  bool is_return = false;
  std::string arguments = {};
  std::string name = {};  // of the event, in group_of() the order; "*": of each function its own

  friend bool operator==(const Probe&, const Probe&) = default;
};

struct Order {
  enum class Kind : std::uint8_t {
    kEnable,    // events are recorded in the host's memory, the newest stay
    kHist,      // their histogram is filled in the programs, and sent
    kLatency,   // the times from one event to another are counted, and sent
    kTail,      // events are sent as lines, as they happen
    kSnapshot,  // what kEnable has recorded is sent once, as it is at that moment
  };

  std::string id = {};
  Kind kind = Kind::kEnable;
  std::string where = {};  // "": every host
  std::string event = {};  // a pattern; of a latency the event that begins it; of a snapshot patterns with commas
  std::string to = {};     // of a latency, that ends it
  std::vector<std::string> key = {};
  std::vector<std::string> to_key = {};
  std::vector<std::string> by = {};
  bool stack = false;  // of a latency: where the slowest ended
  std::string filter = {};
  std::vector<std::string> triggers = {};  // of a histogram also its "hist:…"
  Probe probe = {};                        // that is there for the order, and has its event
  std::uint64_t made_ns = 0;               // since 1970
  std::uint64_t until_ns = 0;              // … when it ends by itself; 0: it does not
  std::uint64_t interval_ms = 0;           // how often sums are sent; 0: as the host likes
  std::uint64_t moment_ns = 0;             // of a snapshot, by the monotonic clock of who asks; 0: now
  std::string by_whom = {};

  friend bool operator==(const Order&, const Order&) = default;

  [[nodiscard]] bool has_ended(std::uint64_t now_ns) const { return until_ns != 0 && now_ns >= until_ns; }
};

// Now, in nanoseconds since 1970.
std::uint64_t wall_ns();

// "enable", "hist", "latency", "tail", "snapshot".
const char* kind_text(Order::Kind kind);

// Of a snapshot's event: none is every event. EINVAL with a sentence.
Result<std::vector<event::Pattern>> patterns_of(const std::string& with_commas);

// What is done, and with what: "hist user_events:job"; of a probe as a command has it, "probe 'libc.so.6:malloc'",
// "tail -p 'libc.so.6:malloc'".
std::string about(const Order& order);

// The system of an order's probe.
std::string probe_group(const std::string& order);

std::string json_of(const Order& order);
// EINVAL with a sentence for what is no order, and for a kind that is not known here.
Result<Order> order_of(const std::string& json);

}  // namespace landtrace::fleet
