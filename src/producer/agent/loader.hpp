// What the program's loader has, and says of itself.
#pragma once

#include <link.h>

#include <cstdint>

#include "agent/recipe.hpp"

namespace landtrace::agent {

// While it is called, no object that is there is unmapped by the loader: dlclose() waits.
template <typename Function>
void with_loader_locked(Function function) {
  ::dl_iterate_phdr(
      [](dl_phdr_info*, std::size_t, void* call) {
        (*static_cast<Function*>(call))();
        return 1;
      },
      &function);
}

// Differs when objects have come or gone since.
std::uint64_t loader_state();

// The program's r_debug, by the address that the loader leaves in its dynamic section.
const r_debug* loader_debug();

// A function that does nothing, with or without a landing pad.
bool recipe_of_empty_function(const std::uint8_t* bytes, Recipe& recipe);

}  // namespace landtrace::agent
