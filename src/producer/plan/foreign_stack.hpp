// The stack of a thread of another process, on whose behalf the owner writes an event: all that is known of it is where
// the thread has called the system.
#pragma once

#include "plan/emit.hpp"

namespace landtrace::plan {

// Its one address is that of the system call in which the thread waits for the owner. More would have to be read from
// memory that the owner must not touch here: a page that its program serves itself would keep everybody waiting.
// Without the right to trace the process there is no address. Makes system calls; not for signal handlers.
std::uint32_t capture_foreign_stack(const View& view, const Thread& thread, std::uint32_t pid, std::uint64_t* frame);

}  // namespace landtrace::plan
