// The interpreter. Async-signal-safe: no lock, no allocation, no system call but those of helpers, no recursion; ends
// after kMaxRun instructions whatever the program is.
#pragma once

#include "bpf/execution.hpp"

namespace landtrace::bpf {

// r0 at the program's end, or 0 where it ended otherwise: run.end says how.
std::uint64_t interpret(Execution& run);

}  // namespace landtrace::bpf
