// Stacks of events begin with the function that called the library.
#pragma once

#include <initializer_list>

namespace landtrace::client {

// Says which functions are the library's: those that programs call, and those that are always on the stack between.
// There is room for a few; one that is known already takes none.
void add_own_frames(std::initializer_list<const void*> functions);

}  // namespace landtrace::client
