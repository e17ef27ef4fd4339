#pragma once

namespace landtrace::preload {

// Whether the program has threads beside the calling one. Those do not count that we have made in it. True where nobody
// says so (no /proc). Async-signal-safe.
bool program_has_other_threads();

}  // namespace landtrace::preload
