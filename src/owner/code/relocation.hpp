// Moves instructions: makes of each a copy that does the same at another address.
//
//     what                                   its copy
//     operand [rip + distance]               the same bytes; the distance is a fixup
//     jcc, jmp, 8 or 32 bits of distance     the form of 32 bits
//     loop, loope, loopne, jrcxz, jecxz      the same, over a short jump past a jump of 32 bits
//     call                                   pushes the original's return address, and jumps: exceptions, backtraces
//                                            and who compares return addresses see no difference
//     everything else                        the same bytes
#pragma once

#include "agent/recipe.hpp"
#include "code/instruction.hpp"

namespace landtrace::code {

// Appends the copy of `instruction`, whose bytes lie `at` bytes behind the recipe's place, to the recipe. False: it
// cannot be moved, or there is no room.
bool append_moved(agent::Recipe& recipe, const Instruction& instruction, Bytes bytes, std::uint32_t at);

// Execution never goes on behind it.
bool never_comes_back(const Instruction& instruction);

}  // namespace landtrace::code
