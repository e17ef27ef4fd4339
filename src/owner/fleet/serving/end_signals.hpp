// How programs of a fleet are told to end, and how they end.
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"

namespace landtrace::fleet {

// Can be read when SIGTERM, SIGINT or SIGHUP has come, which from here on end no thread; SIGPIPE is ignored. To be
// called before other threads are begun.
Result<Fd> end_signals();

// With what was printed, and without exit handlers and destructors: threads of libnats, which nobody can wait for, may
// still be ending. OpenSSL's handler takes away what those that have used it tidy up with.
[[noreturn]] void end_program(int status);

}  // namespace landtrace::fleet
