// A place in an object's code, as the owner publishes it for all programs: which object, where in it, and how the agent
// gets there. In the control segment (plan::ProbeSlot::site), immutable.
#pragma once

#include "agent/recipe.hpp"

namespace landtrace::agent {

inline constexpr std::uint32_t kMostBuildId = 20;

//   0        8       16       24                44    46     48     52
//   +--------+-------+--------+------------------+-----+------+------+------+--------+---------+
//   | device | inode | offset | build_id         | … sizes, sides, maxactive | recipe | counter |
//   +--------+-------+--------+------------------+-----+------+------+------+--------+---------+
struct ProbeSite {
  // Of the object's file, as stat() has them.
  std::uint64_t device;
  std::uint64_t inode;
  // In the file.
  std::uint64_t offset;
  // Of an object that has the same one under another inode, in a container say.
  std::uint8_t build_id[kMostBuildId];
  std::uint8_t build_id_size;  // 0: it has none
  std::uint8_t sides;  // Wants of agent/site.hpp
  // Of a return probe: how many entries may be in progress; 0: as many as there is room for.
  std::uint16_t maxactive;
  Recipe recipe;
  // How far from the place a 16-bit counter is, that says in each program how many of its places are listened to: a
  // USDT semaphore. 0: there is none.
  std::int64_t counter;
};
LT_SHARED(ProbeSite, 264, 8);
LT_SHARED_AT(ProbeSite, device, 0);
LT_SHARED_AT(ProbeSite, inode, 8);
LT_SHARED_AT(ProbeSite, offset, 16);
LT_SHARED_AT(ProbeSite, build_id, 24);
LT_SHARED_AT(ProbeSite, build_id_size, 44);
LT_SHARED_AT(ProbeSite, sides, 45);
LT_SHARED_AT(ProbeSite, maxactive, 46);
LT_SHARED_AT(ProbeSite, recipe, 48);
LT_SHARED_AT(ProbeSite, counter, 256);

}  // namespace landtrace::agent
