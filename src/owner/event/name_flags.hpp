// Flags behind an event's name, `name:FLAG1,FLAG2 fields`, as 6.0 and 6.1 have them.
#pragma once

#include <string>
#include <string_view>

namespace landtrace::event {

// "e:FLAG,OTHER u32 a" as "e u32 a". Those kernels take any flags, and ignore them; later ones refuse them. A
// declaration that is too long stays as it is.
std::string without_flags(std::string_view declaration);

}  // namespace landtrace::event
