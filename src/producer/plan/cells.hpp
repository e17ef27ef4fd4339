// Switches and counters in a data segment: see plan::Cell. Async-signal-safe, no lock.
#pragma once

#include "plan/segments.hpp"

namespace landtrace::plan {

// -- switches -----------------------------------------------------------------------------------------------------
inline bool is_thrown(std::uint64_t word) { return (word & 1) != 0; }
inline bool is_thrown(const Cell& cell) { return is_thrown(__atomic_load_n(&cell.own, __ATOMIC_RELAXED)); }

inline std::uint64_t throw_word(bool thrown, std::uint64_t raw_time) { return raw_time << 1 | (thrown ? 1 : 0); }

// Takes over `word`, unless a newer throw is there already.
inline void throw_switch(Cell& cell, std::uint64_t word) {
  std::uint64_t now = __atomic_load_n(&cell.own, __ATOMIC_RELAXED);
  while (now < word && !__atomic_compare_exchange_n(&cell.own, &now, word, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
  }
}

// An event's own throw, by the time that it read: later than the one that it finds, whatever the times say. A TSC is read
// out of order, and another CPU's may be some hundred nanoseconds ahead.
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

inline void count(Cell& cell) { __atomic_fetch_add(&cell.own, 1, __ATOMIC_ACQ_REL); }

// Counts one more; false, and nothing happens, when `limit` is reached.
inline bool count_up_to(Cell& cell, std::uint64_t limit) {
  std::uint64_t own = __atomic_load_n(&cell.own, __ATOMIC_RELAXED);
  do {
    if (own + __atomic_load_n(&cell.others, __ATOMIC_RELAXED) >= limit) return false;
  } while (!__atomic_compare_exchange_n(&cell.own, &own, own + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  return true;
}

}  // namespace landtrace::plan
