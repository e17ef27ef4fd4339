// Requests about the file tree.
#pragma once

#include "host/server.hpp"

namespace landtrace::host {

bool is_tree_request(ipc::Operation operation);

// Carries one out. The modes of the files say what the caller may do.
Response handle_tree_request(tracefs::Tree& tree, Connection& connection, const tracefs::Caller& caller,
                             const ipc::Request& request, std::string_view text);

}  // namespace landtrace::host
