// Where tools find a tracefs.
#pragma once

#include <string>
#include <vector>

namespace landtrace::cli {

// The folders of the lines of this type. Tools read this file and not mountinfo, and so does whoever must know
// what they find: both may differ where the file is covered.
std::vector<std::string> tracefs_folders(const char* mounts = "/proc/mounts", const char* type = "tracefs");

}  // namespace landtrace::cli
