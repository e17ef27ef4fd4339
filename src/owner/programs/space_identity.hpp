// Tells a program from what the same process was before exec, also where nobody watched.
#pragma once

#include <cstdint>

namespace landtrace::programs {

// A number that no other program has but the forked children of this one, which are copies of it. 0 where it cannot be
// told. `mem` is the process's memory as /proc/PID/mem.
std::uint64_t space_identity(std::uint32_t pid, int mem);

}  // namespace landtrace::programs
