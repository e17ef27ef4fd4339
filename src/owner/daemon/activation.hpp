// Sockets that the service manager listens at, and hands over with the first client (systemd.socket(5)).
#pragma once

#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace landtrace::daemon {

// The socket that this process was started with ($LISTEN_FDS) and that is bound to `path`, listening in this process's
// name; none where there are no such sockets. Clears the variables: programs that are started from here have none.
// EINVAL: there are some, but none of this place and kind.
Result<Fd> activated_socket(const std::string& path);

}  // namespace landtrace::daemon
