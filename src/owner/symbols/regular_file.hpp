// A file whose path somebody else has chosen, for a process that may have more rights than they.
#pragma once

#include <string>

#include "base/fd.hpp"

namespace landtrace::symbols {

// Open for reading. EINVAL: it is not a regular file, and was not opened: opening a device may wait for it, or start
// what it does. Else what open(2) says.
Result<Fd> open_regular_file(const std::string& path);
// The same for what was opened with O_PATH, and is called `path` in messages.
Result<Fd> open_regular_file(const Fd& found, const std::string& path);

}  // namespace landtrace::symbols
