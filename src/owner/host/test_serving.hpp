// For tests that look into a domain while its server runs.
#pragma once

#include <string>

#include "ipc/socket.hpp"

namespace landtrace::host {

// Waits until the server at `path` has done all that it was sent before, by clients that have ended by now, too: it
// answers this only then. Whoever calls it does not hold the domain. False where nobody answers.
inline bool wait_for_server(const std::string& path) {
  const auto connection = ipc::connect_to(path);
  return connection && ipc::ask(connection->get(), {.operation = ipc::Operation::kAbout});
}

}  // namespace landtrace::host
