// Requests of a consumer about its session: an instance with rings of its own, which goes with the connection.
#pragma once

#include "host/request_context.hpp"

namespace landtrace::host {

// Carries one out, if it is one.
std::optional<Response> handle_session_request(const Context& c);
// The instance of the connection's session; nullptr: it has none.
domain::Instance* session_of(const Context& c);

}  // namespace landtrace::host
