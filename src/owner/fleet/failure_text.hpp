// What libnats says, for people.
#pragma once

#include <string>
#include <string_view>

namespace landtrace::fleet {

// Without the places in its source before it: "(conn.c:2088): No server" is "No server".
std::string without_places(std::string_view text);

// Of servers that do not answer, as they may be shown.
std::string nobody_answers(const std::string& servers);

}  // namespace landtrace::fleet
