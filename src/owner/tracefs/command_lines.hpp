// Files that take definitions, one a line: dynamic_events.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.hpp"

namespace landtrace::tracefs {

// Runs each line up to a '#' in it. The first that fails ends it. EINVAL: a line has more than 4094 bytes. Returns
// the number of bytes taken.
Result<std::size_t> run_lines(std::string_view bytes, const std::function<Result<void>(std::string_view)>& run);

}  // namespace landtrace::tracefs
