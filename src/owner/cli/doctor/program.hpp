// Programs and functions that are run in a child process to see what comes of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace landtrace::cli::doctor {

// Runs the program to its end, for some seconds at most. The error is the last line that it said, or how it ended.
Result<void> run_program(const std::vector<std::string>& words, const std::vector<std::string>& environment);

// Runs `work` in a fork of this process, which may change itself beyond return. The error is that of `work`. Only while
// this process has one thread.
Result<void> run_in_child(const std::function<Result<void>()>& work);

}  // namespace landtrace::cli::doctor
