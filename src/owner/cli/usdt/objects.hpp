// In which files USDT places may be meant.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace landtrace::cli {

// The program that CMD runs (of a script its interpreter), and the libraries that it is linked to, as the loader finds
// them. "" and none: there is no such program.
std::vector<std::string> objects_of_command(const std::string& program);

// What the process has mapped as code.
Result<std::vector<std::string>> objects_of_process(std::uint32_t pid);

}  // namespace landtrace::cli
