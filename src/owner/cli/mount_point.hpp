// Folders to mount on, in a private mount namespace, where the file system has none.
#pragma once

#include <string>

#include "base/result.hpp"

namespace landtrace::cli {

// Makes sure that the folder is there. Where it cannot be made (sysfs, a read-only file system), the nearest folder
// above it is covered with a small tmpfs that shows everything that was there, and it. Only for a mount namespace of
// the caller's own, as its root.
Result<void> make_mount_point(const std::string& folder);

}  // namespace landtrace::cli
