// Tells whether a process still runs the program that it ran before, even if nobody watched it meanwhile.
#pragma once

#include <cstdint>

namespace landtrace::programs {

// The number of the program that the process runs. No other program has it, also not the same file started once more;
// only children that were forked since have it, too, as they are copies. 0 where it cannot be found out. `mem`: the
// process's /proc/PID/mem, open.
std::uint64_t space_identity(std::uint32_t pid, int mem);

}  // namespace landtrace::programs
