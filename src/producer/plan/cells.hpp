// Switches and counters in a data segment: what a plan::Cell is, data_segment.hpp draws. Async-signal-safe, no lock.
//
// Who writes: producers of the segment's user, with what is here; the owner, which carries over what other users'
// producers did: throws with throw_switch(), counts by storing `others`. Who reads: producers, at each event and
// without an order, as a switch guards nothing but itself; and the owner.
//
// Invariants: a throw never makes `own` of a switch smaller, as a later one has a later time: so of two the newer one
// stays, whoever's store comes last. (The owner's own setting, Cells::set_switch(), stores outright: it counts against
// all that producers did before.) `own` of a counter only grows, so that of two that count up to a limit one gets each
// number; while the others' count is on its way the limit may be exceeded by what they have done meanwhile.
//
// Every change is a release, which pairs with the acquire load in the owner's Cells::own_of(): whoever sees that a
// snapshot was taken sees the records that were made before it. The acquire half of the exchanges has no partner.
#pragma once

#include "plan/segments.hpp"

namespace landtrace::plan {

// -- switches -----------------------------------------------------------------------------------------------------
inline bool is_thrown(std::uint64_t word) { return (word & 1) != 0; }
inline bool is_thrown(const Cell& cell) { return is_thrown(__atomic_load_n(&cell.own, __ATOMIC_RELAXED)); }

inline std::uint64_t throw_word(bool thrown, std::uint64_t raw_time) { return raw_time << 1 | (thrown ? 1 : 0); }

// Takes over `word`, unless a newer throw is there already. Pairs with the acquire load in Cells::own_of().
inline void throw_switch(Cell& cell, std::uint64_t word) {
  std::uint64_t now = __atomic_load_n(&cell.own, __ATOMIC_RELAXED);
  while (now < word && !__atomic_compare_exchange_n(&cell.own, &now, word, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
  }
}

// An event's own throw, by the time that it read: later than the one that it finds, whatever the times say. A TSC is
// read out of order, and another CPU's may be some hundred nanoseconds ahead. Pairs with the acquire load in
// Cells::own_of().
inline void throw_now(Cell& cell, bool thrown, std::uint64_t raw_time) {
  std::uint64_t now = __atomic_load_n(&cell.own, __ATOMIC_RELAXED);
  std::uint64_t word = 0;
  do {
    const std::uint64_t next_time = (now >> 1) + 1;
    word = throw_word(thrown, raw_time > next_time ? raw_time : next_time);
  } while (!__atomic_compare_exchange_n(&cell.own, &now, word, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
}

// -- counters -----------------------------------------------------------------------------------------------------
inline std::uint64_t counted(const Cell& cell) {
  return __atomic_load_n(&cell.own, __ATOMIC_RELAXED) + __atomic_load_n(&cell.others, __ATOMIC_RELAXED);
}

// Pairs with the acquire load in Cells::own_of().
inline void count(Cell& cell) { __atomic_fetch_add(&cell.own, 1, __ATOMIC_ACQ_REL); }

// Counts one more; false, and nothing happens, when `limit` is reached. Pairs with the acquire load in Cells::own_of().
inline bool count_up_to(Cell& cell, std::uint64_t limit) {
  std::uint64_t own = __atomic_load_n(&cell.own, __ATOMIC_RELAXED);
  do {
    if (own + __atomic_load_n(&cell.others, __ATOMIC_RELAXED) >= limit) return false;
  } while (!__atomic_compare_exchange_n(&cell.own, &own, own + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  return true;
}

}  // namespace landtrace::plan
