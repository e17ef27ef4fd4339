// Probes: events at places in programs' code. A place that an enabled event names has a slot, which says what is to
// happen when a thread comes by; the agent (agent/) leads it here with its registers.
//
//   ControlSegment::probes[slot] ---> ProbeHooks, immutable          EventProbePlan of each hook (event_probe.hpp)
//   +-------+------------+------+     0       4        8
//   | hooks | generation | site |     +-------+--------+--------+----
//   +-------+------------+------+     | count | unused | hook 0 | …
//                           |         +-------+--------+--------+----
//                           v
//                           ProbeSite: the place, and how the agent gets there
//
// The owner publishes `hooks` by a release store, which pairs with the acquire load in hit_probe(), and frees old lists
// after a grace period. A program goes on to lead threads here for a while when nobody listens any more: then `hooks`
// is 0. A slot is taken for another place after that; the generation tells the two apart.
#pragma once

#include "plan/made_payload.hpp"

namespace landtrace::plan {

enum class ProbeSide : std::uint8_t { kEntry, kReturn };

//   0      4        6      7
//   +------+--------+------+---------+
//   | plan | figure | side | counted |
//   +------+--------+------+---------+
struct ProbeHook {
  // Offset of the EventProbePlan.
  std::uint32_t plan;
  // Which of DataSegment::probe_figures counts it.
  std::uint16_t figure;
  ProbeSide side;
  // Where a hit counts: of returns the kernel counts some when the function is called.
  ProbeSide counted;
};
LT_SHARED(ProbeHook, 8, 4);
LT_SHARED_AT(ProbeHook, plan, 0);
LT_SHARED_AT(ProbeHook, figure, 4);
LT_SHARED_AT(ProbeHook, side, 6);
LT_SHARED_AT(ProbeHook, counted, 7);

struct alignas(8) ProbeHooks {
  std::uint32_t count;
  std::uint32_t reserved;

  [[nodiscard]] const ProbeHook* hooks() const { return reinterpret_cast<const ProbeHook*>(this + 1); }
};
LT_SHARED(ProbeHooks, 8, 8);
LT_SHARED_AT(ProbeHooks, count, 0);

struct ProbeHit {
  std::uint32_t slot;
  // Of the slot, when the agent put its jump there.
  std::uint32_t generation;
  ProbeSide side;
  const std::uint64_t* registers;  // [kRegisters]
  // Where the probe is, and, of a return, where the function goes back to.
  std::uint64_t place;
  std::uint64_t return_address;
  // Of a return: the call's arguments, or nullptr.
  const std::uint64_t* kept;
};

// Runs the hooks of that side. The caller is inside a Section. Async-signal-safe; no system call but those of emit.hpp.
void hit_probe(const View& view, const Thread& thread, const ProbeHit& hit);
// Counts that the hooks of that side were not run.
void miss_probe(const View& view, const Thread& thread, std::uint32_t slot, std::uint32_t generation, ProbeSide side);

}  // namespace landtrace::plan
