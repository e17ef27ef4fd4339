// Where the calling convention of x86-64 puts a function's parameters: what counts at its entry where debugging
// information says only where the function will put them.
#pragma once

#include "dwarf/reading/scope.hpp"

namespace landtrace::dwarf {

// One of scope.parameters(), of a function that begins at the place.
OrWhy<Value> argument_at_entry(const Scope& scope, Dwarf_Die parameter);

}  // namespace landtrace::dwarf
