// Names that are given where nothing may go for them.
#pragma once

#include <string>

#include "base/result.hpp"

namespace landtrace::cli {

// What a recorder that was killed has left at PATH.partial is PATH.killed from here on; or PATH.killed.2 and so on,
// where earlier ones have these names: nothing of them goes. Its name.
Result<std::string> keep_killed(const std::string& path);

}  // namespace landtrace::cli
