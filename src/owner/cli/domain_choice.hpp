// Which domain a command without --socket means.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"

namespace landtrace::cli {

// --socket, or $LANDTRACE_SOCKET; "": neither names one.
std::string named_socket(const std::string& option);

// A domain that may be mounted by this user: the one that is named, served or not; else the user's own, or for root
// the one for all users, if somebody serves it; nullopt: none of them.
std::optional<std::string> mountable_domain(const std::string& option);

// Nobody serves a domain there.
bool is_nobody(const Error& error);

}  // namespace landtrace::cli
