// How the registers of a frame's caller are found: the rules that hold at an address, by the instructions of its table
// entry.
#pragma once

#include "unwind/fde.hpp"
#include "unwind/registers.hpp"

namespace landtrace::unwind {

enum class RuleKind : std::uint8_t {
  kSame,              // the callee left it alone
  kUndefined,         // lost; of the return address: the stack ends here
  kAtOffset,          // in memory at CFA + value
  kIsOffset,          // it is CFA + value
  kRegister,          // in the register `value`
  kAtExpression,      // in memory where the expression at address `value` says
  kIsExpression,      // it is what the expression at address `value` says
  kRegisterPlusValue  // of the CFA alone: the register `base` + value
};

// All zero is kSame. Not initialised by itself: some lie on a stack of which mostly nothing is used.
struct Rule {
  std::uint64_t value;
  RuleKind kind;
  std::uint8_t base;
};

struct Rules {
  Rule cfa;  // the canonical frame address: the stack pointer before the call
  Rule registers[kRegisters];
};

// False for instructions that are malformed, unknown, or too many. `rules` need not be initialised.
bool find_rules(const Fde& fde, std::uint64_t pc, Rules& rules);

}  // namespace landtrace::unwind
