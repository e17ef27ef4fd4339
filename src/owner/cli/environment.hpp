// What a traced program finds in its environment.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace landtrace::cli {

// The shim: $LANDTRACE_PRELOAD, else where the build or the installation has it, seen from this program.
// ENOENT with the places that were looked at.
Result<std::string> find_preload();

// The calling process's environment with LANDTRACE_SOCKET set and the shim in front of what LD_PRELOAD has, which
// ASAN_OPTIONS allows.
std::vector<std::string> traced_environment(const std::string& socket, const std::string& preload);

// The calling process's environment as it is.
std::vector<std::string> own_environment();

// This program's file, to start it again.
std::string own_program();

// Pointers to the words, and a nullptr, for exec.
std::vector<char*> exec_array(const std::vector<std::string>& words);

}  // namespace landtrace::cli
