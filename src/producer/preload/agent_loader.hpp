// Loads the agent that carries out probes (agent_object/) where the domain has any.
#pragma once

#include <string>

namespace landtrace::preload {

// When the program starts, before it has threads. A program of a domain without probes is not touched: whether
// there are any says a file beside the domain's socket.
void load_agent_if_wanted(const std::string& socket);

}  // namespace landtrace::preload
