// Runs an instruction where it stands and as a moved copy, on the same registers and memory, and compares what they
// did.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/recipe.hpp"
#include "code/instruction.hpp"

namespace landtrace::code::test {

// Where things are in the processes that run instructions. Everything that is not set is int3 (code) or random (data),
// the same for both runs.
inline constexpr std::uint64_t kPlace = 0x2010'0000'0800;
inline constexpr std::uint64_t kCopy = 0x2010'4000'0100;
inline constexpr std::uint64_t kFarTarget = 0x2010'0020'0010;
inline constexpr std::uint64_t kData = 0x200f'fff0'0000;
inline constexpr std::uint64_t kOperand = kData + 0x2000;   // 64-byte aligned, in the middle
inline constexpr std::uint64_t kPointers = kData + 0x8000;  // 8 KB of pointers to kFarTarget follow
inline constexpr std::uint64_t kStack = 0x200f'ff80'1000;   // in the middle of 8 KB of them

enum GeneralRegister { kAx, kCx, kDx, kBx, kSp, kBp, kSi, kDi };  // the others by their number

struct Case {
  std::vector<std::uint8_t> bytes;
  std::array<std::uint64_t, 16> registers;
  std::uint64_t flags = 2;
};

// A case's registers to begin with: each points to other memory that may be read and written.
std::array<std::uint64_t, 16> usual_registers();

// A recipe's copy with its fixups made, and the jump back behind it.
std::vector<std::uint8_t> fixed_up(const agent::Recipe& recipe, std::uint64_t place, std::uint64_t copy);

struct Outcome {
  std::size_t run = 0;
  std::size_t faulted =
      0;  // both runs ended in the same signal: the processor does not know the instruction, or its operands are bad
  std::vector<std::string> differences;  // at most 20
};

// Cases that append_moved() refuses are a difference.
Outcome compare(const std::vector<Case>& cases);

std::string in_text(const std::vector<std::uint8_t>& bytes);

}  // namespace landtrace::code::test
