// The stubs by which a patched place leads to the handlers.
//
//   the place: jmp ---> entry stub (one a place, near it)          common code (stubs.cc)
//                         | site | common |                          saves the registers,
//                         call *common  ------------------------->   enter(): handlers.hit
//                         ( jmp *-16(%rsp), if returns are probed )  restores them, ret
//                         copy of the displaced instructions <----    with further calls between two of them, where
//                                                                     there are other places
//                         jmp behind them
//
// With returns, that jump goes either on to the copy or to a return stub (one a call in progress, of a static table):
//
//   return stub:  lea 8(%rsp),%rsp    the return address is off the stack, and kept in the slot
//                 call *slot.target   the copy, and so the function, which returns to here
//                 jmp common code     saves the registers, leave(): handlers.returned, restores them, and returns
//
// Each call has its return, as the CPU's return predictor wants it. The return stubs' entry in .eh_frame finds a slot
// by the frame's pc, so whoever unwinds comes through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "agent/recipe.hpp"
#include "agent/site.hpp"

namespace landtrace::agent {

enum class Form : std::uint8_t {
  kEntry,   // at a function's entry
  kReturn,  // the same, and the return is probed, too
  kMiddle,  // elsewhere: the flags and the red zone are kept
};

inline constexpr std::size_t kMaxInner = 5;  // as many one-byte instructions as a jump has bytes
inline constexpr std::size_t kMaxStub = 304;
inline constexpr std::size_t kStubAlignment = 16;

struct Stub {
  std::uint8_t bytes[kMaxStub];
  std::size_t size = 0;
  std::size_t code = 0;  // where in it the place's jump goes
  // Where in it the instruction is, as moved, that begins so many bytes behind the jump's beginning; 0: none.
  std::uint16_t moved[kJumpSize] = {};
};

// A further place within the displaced instructions, so many bytes behind the jump's beginning.
struct InnerHit {
  const Site* site;
  std::uint32_t distance;
};

// The stub as it has to lie at `at`. `inner`: ascending, kMaxInner at most, each where the recipe's copy_at has an
// instruction. False where an address in it is out of reach from there.
bool assemble(const Recipe& recipe, const Site* site, Form form, std::uint64_t at, Stub& stub,
              std::span<const InnerHit> inner = {});

}  // namespace landtrace::agent
