// A tracefs that one command and what it starts see at the usual places, and nobody else.
#pragma once

#include <string>
#include <vector>

#include "cli/own_namespace.hpp"

namespace landtrace::cli {

// Puts the calling process, which is about to become the command, in a mount namespace where the files of the domain at
// `socket` lie at /sys/kernel/tracing and wherever a tracefs is mounted, and where /proc/mounts has a line of type
// tracefs for them. Writes to /proc/sys/kernel/ftrace_enabled reach nobody there.
Result<void> enter_private_tracefs(const std::string& socket, Ids ids);

// How this program is started to run `command` there, in the domain at `socket`.
std::vector<std::string> tracefs_command(const std::string& socket, Ids ids, const std::vector<std::string>& command);

}  // namespace landtrace::cli
