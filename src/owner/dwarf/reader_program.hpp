// Starts landtrace-dwarf, and reads what it says.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/fd.hpp"

namespace landtrace::dwarf {

// $LANDTRACE_DWARF, else beside this program's libraries, else where it was installed.
std::string reader_path();

// All that the program writes. Its descriptor 3 is `object`; it has no environment. ETIMEDOUT, or EIO with a sentence
// about how it ended; then it is no more.
Result<std::string> run_reader(int object, const std::vector<std::string>& words, std::chrono::milliseconds patience);

}  // namespace landtrace::dwarf
