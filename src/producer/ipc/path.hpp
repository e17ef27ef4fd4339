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

// Where the domain for all users is served.
inline constexpr const char* kSystemFolder = "/run/landtrace";
inline constexpr const char* kSystemSocket = "/run/landtrace/domain.sock";

// Where the user's own domain is served: in the runtime folder, which may not be there.
std::string user_socket();

// The socket of the domain that a program attaches to when nothing else is said: $LANDTRACE_SOCKET; else the user's own
// domain if somebody serves it; else the one for all users if there is one, which only root can have made; else
// the user's own all the same. Never fails; there may be nobody.
std::string default_socket();

}  // namespace landtrace::ipc
