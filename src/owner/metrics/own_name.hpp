// By which name a request asks.
#pragma once

#include <string_view>

namespace landtrace::metrics {

// Of a header `Host`, with a port or without: whether that is this machine to itself, localhost or a number of the
// loopback interface. Under any other name, also "127.example.org", a page of somebody else's asks, whose DNS entry
// leads here. Without a header it is nobody's page.
bool is_own_name(std::string_view host);

}  // namespace landtrace::metrics
