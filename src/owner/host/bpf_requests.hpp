// Requests about eBPF maps and programs.
#pragma once

#include "host/server.hpp"

namespace landtrace::host {

bool is_bpf_request(ipc::Operation operation);

// Carries one out. What it makes is `who`'s, and goes with the connection.
Response handle_bpf_request(bpf_objects::Objects& objects, domain::Domain& domain, Connection& connection,
                            std::uint32_t pid, programs::Identity who, const ipc::Request& request,
                            std::string_view text);

}  // namespace landtrace::host
