// What the agent shows of itself in a program's memory, for those who look into that from outside, by two symbols of
// liblandtrace-agent.so: `landtrace_agent_presence` and `landtrace_agent_places`.
#pragma once

#include "base/shared_layout.hpp"

namespace landtrace::agent {

inline constexpr std::uint32_t kPresenceMagic = 0x4174544c;  // "LTtA"

//   0       4       8       12         16
//   +-------+-------+-------+----------+-------------
//   | magic | begun | owner |          | socket …
//   +-------+-------+-------+----------+-------------
struct Presence {
  std::uint32_t magic;
  // 1: it is in a domain, or was, and goes on in the next one at the same place.
  std::uint32_t begun;
  // The process that serves it, as that sees itself; 0: nobody does, as far as the agent knows.
  std::uint32_t owner;
  std::uint32_t reserved;
  char socket[112];  // of the domain
};
LT_SHARED(Presence, 128, 4);
LT_SHARED_AT(Presence, magic, 0);
LT_SHARED_AT(Presence, begun, 4);
LT_SHARED_AT(Presence, owner, 8);
LT_SHARED_AT(Presence, socket, 16);

// What became of a place that is wanted, by its slot: the symbol `landtrace_agent_places` is an array of these. Written
// by the agent's thread; who reads it meanwhile may see an entry that is half written, and looks again.
//
//   0       8        16           20      21       22
//   +-------+--------+------------+-------+--------+----+
//   | inode | offset | generation | state | reason |    |
//   +-------+--------+------------+-------+--------+----+
struct ShownPlace {
  // Of the object's file, and where in it.
  std::uint64_t inode;
  std::uint64_t offset;
  std::uint32_t generation;  // 0: nothing is wanted
  std::uint8_t state;        // a PlaceState
  std::uint8_t reason;       // a Reason
  std::uint16_t reserved;
};
LT_SHARED(ShownPlace, 24, 8);
LT_SHARED_AT(ShownPlace, inode, 0);
LT_SHARED_AT(ShownPlace, offset, 8);
LT_SHARED_AT(ShownPlace, generation, 16);
LT_SHARED_AT(ShownPlace, state, 20);
LT_SHARED_AT(ShownPlace, reason, 21);

inline constexpr std::uint32_t kShownPlaces = 8192;
inline constexpr const char* kPlacesSymbol = "landtrace_agent_places";
inline constexpr const char* kAgentFile = "liblandtrace-agent.so";
inline constexpr const char* kPresenceSymbol = "landtrace_agent_presence";

}  // namespace landtrace::agent
