// Names of files that stay valid when the process changes its folder.
#pragma once

#include <string>

namespace landtrace::cli {

// `path` from the root, without symbolic links. Its last part may be inaccessible, as a mount whose server has died.
std::string full_path(const std::string& path);

}  // namespace landtrace::cli
