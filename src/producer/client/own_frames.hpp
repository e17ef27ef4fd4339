// Stacks of events begin with who called the library.
#pragma once

#include <initializer_list>

namespace landtrace::client {

// Functions by which programs call it, or that are always on the stack between. Few; each is known once.
void add_own_frames(std::initializer_list<const void*> functions);

}  // namespace landtrace::client
