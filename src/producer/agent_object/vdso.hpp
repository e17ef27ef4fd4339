// The kernel's code in every process: a tenth of a system call's price.
#pragma once

#include <ctime>

namespace landtrace::agent_object {

using VdsoClock = int (*)(clockid_t clock, timespec* time);

// Its clock_gettime(), which may use the vector registers of every x86-64; nullptr where it has none, and before
// find_vdso().
[[nodiscard]] VdsoClock vdso_clock();

void find_vdso();

}  // namespace landtrace::agent_object
