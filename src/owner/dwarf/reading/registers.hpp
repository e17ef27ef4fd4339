// The general registers of x86-64 by DWARF's numbers, as fetch arguments call them.
#pragma once

#include <array>
#include <string>

#include "dwarf/reading/scope.hpp"

namespace landtrace::dwarf {

inline constexpr unsigned kFramePointer = 6, kStackPointer = 7;
// Those in which integers and pointers are handed over, in their order.
inline constexpr std::array<unsigned, 6> kArgumentRegisters{5, 4, 1, 2, 8, 9};

// "%di"; at a return what it was at the entry, "$arg1".
OrWhy<std::string> register_text(unsigned number, const CodePlace& place);
// The word with that index above the return address, when the function begins.
OrWhy<std::string> stack_word_text(std::uint64_t index, const CodePlace& place);

}  // namespace landtrace::dwarf
