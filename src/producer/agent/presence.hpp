// What the agent shows of itself in a program's memory, for those who look into that from outside: the symbol
// `landtrace_agent_presence` of liblandtrace-agent.so.
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

inline constexpr const char* kAgentFile = "liblandtrace-agent.so";
inline constexpr const char* kPresenceSymbol = "landtrace_agent_presence";

}  // namespace landtrace::agent
