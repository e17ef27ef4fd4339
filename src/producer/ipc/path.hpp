// Where domains live.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace landtrace::ipc {

// Names the socket of the domain to attach to; set for what runs under `landtrace record` and `landtrace run`.
inline constexpr const char* kSocketVariable = "LANDTRACE_SOCKET";

// The user's runtime folder for Landtrace: $XDG_RUNTIME_DIR/landtrace, else /tmp/landtrace-UID. Where that is another
// user's, or cannot be made (a read-only /tmp): the first of /run/user/UID/landtrace, $HOME/.landtrace,
// /var/tmp/landtrace-UID and /dev/shm/landtrace-UID that can be had. Created with mode 0711 where it is missing.
Result<std::string> runtime_folder();

// Whether what that user serves may be used: root, or ourselves. Where it cannot be told who a number stands for (in a
// user namespace it may be any user who has none there) nobody else's is.
bool is_trusted(std::int64_t uid);
// The same for the socket itself, by its owner, before anything is said to it. True where there is none. Where the
// number does not tell, it is ours if it lies in a folder that is ours and that nobody else may write to.
bool is_trusted_socket(const char* path);
// The same for who serves the other end of a connection. Where the number does not tell, the system knows whether it is
// ours: it lets us send it signals.
bool is_trusted_peer(int fd);

// Where the domain for all users is served.
inline constexpr const char* kSystemFolder = "/run/landtrace";
inline constexpr const char* kSystemSocket = "/run/landtrace/domain.sock";

// Where the user's own domain is served: in the runtime folder, which may not be there. Never in a folder that another
// user has made.
std::string user_socket();

// The socket of the domain that a program attaches to when nothing else is said: $LANDTRACE_SOCKET; else the user's own
// domain if somebody serves it; else the one for all users if there is one, which only root can have made; else
// the user's own all the same. Never fails; there may be nobody.
std::string default_socket();

// A file that is there while a domain has probes of functions: programs that start then load the agent.
inline std::string probes_mark(const std::string& socket) { return socket + ".probes"; }

}  // namespace landtrace::ipc
