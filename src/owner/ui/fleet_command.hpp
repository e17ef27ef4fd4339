// The commands that the page of a fleet may have run for it: orders of `landtrace fleet`, and their ends.
#pragma once

#include "ui/command.hpp"

namespace landtrace::ui {

// EINVAL with a sentence: something is missing, or would be taken for an option.
Result<CommandLine> fleet_command_of(const std::map<std::string, std::string>& arguments);

}  // namespace landtrace::ui
