// Loads that do not wait for one another.
//
// Where each of some loads says where the next one is, the processor waits for one after the other, some 5 cycles
// each; and the time stamp counter is not read before all of them are done. guessed() remembers what a load gave the
// last time: the processor goes on with that, while the load itself is only compared with it.
//
//   a = load(p)            p -> a -> b -> c        a = guessed(load(p), guess.a)     p -> a = guess.a?
//   b = load(a)                                    b = guessed(load(a), guess.b)     guess.a -> b = guess.b?
//   c = load(b)                                    c = guessed(load(b), guess.c)     guess.b -> c = guess.c?
//
// A guess may be anything, and be written by several threads: what comes back is what the load gave.
#pragma once

#include <cstdint>

namespace landtrace {

[[gnu::always_inline]] inline std::uint32_t guessed(std::uint32_t actual, std::uint32_t* guess) {
  if (guess == nullptr) return actual;
  std::uint32_t same = __atomic_load_n(guess, __ATOMIC_RELAXED);
  if (__builtin_expect(same != actual, 0)) {
    __atomic_store_n(guess, actual, __ATOMIC_RELAXED);
    return actual;
  }
  asm("" : "+r"(same));  // or the compiler, which knows that they are the same now, would go on with the other one
  return same;
}

}  // namespace landtrace
