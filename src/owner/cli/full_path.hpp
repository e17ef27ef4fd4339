// Names of files that hold when the current folder is another.
#pragma once

#include <string>

namespace landtrace::cli {

// `path` from the root, without symbolic links; its last part may be what cannot be looked at, as a mount without server.
std::string full_path(const std::string& path);

}  // namespace landtrace::cli
