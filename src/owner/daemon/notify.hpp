// Tells systemd how a service is doing, without its library: one datagram to $NOTIFY_SOCKET.
#pragma once

#include <string_view>

namespace landtrace::daemon {

// "READY=1", "STOPPING=1". Does nothing without $NOTIFY_SOCKET.
void notify_service_manager(std::string_view state);

}  // namespace landtrace::daemon
