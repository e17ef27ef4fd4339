// Programs that run already and that a command attaches to its domain.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attach/attach.hpp"

namespace landtrace::cli {

// EINVAL for what is no number of a process; `option` is what it was given with.
Result<std::vector<std::uint32_t>> parse_pids(const std::string& option, const std::vector<std::string>& words);

Result<attach::Attached> attach_program(std::uint32_t pid, const std::string& socket);
// "1234 (bash) is attached to the domain at PATH; a thread of it was stopped for 0.05 ms"
std::string attached_text(const attach::Attached& attached, const std::string& socket);

}  // namespace landtrace::cli
