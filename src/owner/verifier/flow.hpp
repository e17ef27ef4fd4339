// What can be said of a program without running it: that it consists of instructions, and where it can go.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "verifier/state.hpp"

namespace landtrace::verifier {

struct Complaint {
  std::uint32_t pc;
  std::string text;
};

// Unknown opcodes, registers and reserved parts, jumps out of a subprogram or into the middle of a constant, code that
// cannot be reached, an end that is none.
std::optional<Complaint> check_flow(std::span<const Instruction> code, std::uint32_t map_count);

// Where several ways meet, or one can come by again: states are compared there.
std::vector<bool> meeting_points(std::span<const Instruction> code);

LiveRegisters live_registers(std::span<const Instruction> code);

}  // namespace landtrace::verifier
