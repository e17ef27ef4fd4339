// What a traced program finds in its environment.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace landtrace::cli {

// The path of the shim: $LANDTRACE_PRELOAD, else its place relative to this program, built or installed. ENOENT with
// the path that was tried.
Result<std::string> find_preload();
// ENOTSUP where functions cannot be probed.
Result<void> check_machine_has_probes();
// The path of what is loaded into programs for probes, beside the shim.
Result<std::string> find_agent();

// The path of another program of ours, which landtrace or landtraced starts ("landtrace-metrics"); it need not be
// there.
Result<std::string> find_helper(const std::string& name);

// The environment of the calling process with LANDTRACE_SOCKET set and the shim first in LD_PRELOAD. ASAN_OPTIONS
// allows that for programs with AddressSanitizer.
std::vector<std::string> traced_environment(const std::string& socket, const std::string& preload);

// The calling process's environment as it is.
std::vector<std::string> own_environment();

// `environment` for a program of ours that is to end with this process (base/end_with_parent.hpp).
std::vector<std::string> ending_with_this(std::vector<std::string> environment);

// This program's file, to start it again.
std::string own_program();

// Pointers to the words, and a nullptr, for exec.
std::vector<char*> exec_array(const std::vector<std::string>& words);

}  // namespace landtrace::cli
