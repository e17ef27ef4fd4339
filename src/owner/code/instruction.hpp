// One instruction of x86-64, as far as moving it to another place has to know it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace landtrace::code {

using Bytes = std::span<const std::uint8_t>;

inline constexpr std::size_t kLongestInstruction = 15;

// Where execution goes on behind it.
enum class Flow : std::uint8_t {
  kNext,
  kJump,
  kCondition,  // jcc
  kCounter,    // loop, loope, loopne, jrcxz, jecxz: 8 bits of distance only
  kCall,
  kJumpIndirect,
  kCallIndirect,
  kReturn,
  kTrap,     // raises a signal, as int3 and ud2: who handles it may look where it was
  kUnmoved,  // tells its own address in a way that cannot be repaired, or is not for programs
};

// What is done to the stack pointer or through it: to see whether a function looks at its return address.
enum class StackUse : std::uint8_t { kNone, kPush, kPop, kSubtract, kRead, kOther };

struct Instruction {
  std::uint8_t length = 0;
  Flow flow = Flow::kNext;
  bool is_nop = false;
  bool has_relative_memory = false;  // [rip + distance]
  bool is_relative_lea = false;
  bool is_prefixed = false;      // by 66 or 67, so that a branch means something else on some processors
  std::uint8_t condition = 0;    // kCondition: the last 4 bits of the opcode; kCounter: the opcode
  std::uint8_t modrm_at = 0;     // 0: none
  std::uint8_t distance_at = 0;  // of a branch or a relative operand
  std::int64_t distance = 0;     // from the instruction's end
  StackUse stack = StackUse::kNone;
  std::int64_t stack_distance = 0;  // kSubtract: bytes; kRead: from rsp
  bool is_compare = false;          // with `immediate`
  bool has_immediate = false;
  std::uint64_t immediate = 0;
  // An operand [index * 8 + table] without a base.
  bool has_table = false;
  std::uint64_t table = 0;
  bool is_memory = false;   // it has an operand in memory
  bool is_indexed = false;  // with an index
};

// Nothing: not an instruction, or longer than `bytes`.
std::optional<Instruction> decode(Bytes bytes);

}  // namespace landtrace::code
