// The text of an empty `snapshot`.
#pragma once

#include <string>

namespace landtrace::tracefs {

std::string snapshot_help(bool is_allocated, bool of_all_cpus);

}  // namespace landtrace::tracefs
