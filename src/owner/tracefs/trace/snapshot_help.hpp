// What `snapshot` says while there is nothing in it.
#pragma once

#include <string>

namespace landtrace::tracefs {

std::string snapshot_help(bool is_allocated, bool of_all_cpus);

}  // namespace landtrace::tracefs
