// How programs of a fleet are told to end.
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"

namespace landtrace::fleet {

// Can be read when SIGTERM, SIGINT or SIGHUP has come, which from here on end no thread; SIGPIPE is ignored. To be
// called before other threads are begun.
Result<Fd> end_signals();

}  // namespace landtrace::fleet
