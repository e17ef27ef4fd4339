// DWARF expressions, as far as unwind tables have them: PLT entries, signal frames, hand-written assembler.
#pragma once

#include "unwind/bytes.hpp"
#include "unwind/registers.hpp"

namespace landtrace::unwind {

// Evaluates what is left of `code`. `initial`, if there is one, lies on the stack at first (the CFA, for a rule of a
// register). False for what is malformed, too long, unknown or cannot be read.
bool evaluate(Cursor code, const Registers& registers, const std::uint64_t* initial, WordReader read,
              std::uint64_t& result);

}  // namespace landtrace::unwind
