// Where domains live.
#pragma once

#include <string>

#include "base/result.hpp"

namespace landtrace::ipc {

// Names the socket of the domain to attach to; set for what runs under `landtrace record` and `landtrace run`.
inline constexpr const char* kSocketVariable = "LANDTRACE_SOCKET";

// The user's runtime folder for Landtrace: $XDG_RUNTIME_DIR/landtrace, else /tmp/landtrace-UID. Created with mode
// 0711 where it is missing; EPERM where somebody else owns it.
Result<std::string> runtime_folder();

// The socket of the domain that a program attaches to when nothing else is said: $LANDTRACE_SOCKET, else the
// user's default domain. Never fails; there may be nobody.
std::string default_socket();

}  // namespace landtrace::ipc
