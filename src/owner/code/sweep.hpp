// Goes once through all code of an object and collects where it jumps to.
#pragma once

#include "code/functions.hpp"
#include "code/targets.hpp"

namespace landtrace::code {

// Adds the targets of all direct jumps and calls, of the addresses that code takes, and of switch tables as far as they
// are recognized; functions with an indirect jump for which no table was found are marked as `jumps_unseen`.
void sweep(const symbols::ElfFile& file, const Image& image, bool is_fixed, Functions& functions, Targets& targets);

}  // namespace landtrace::code
