// Text as a JSON string.
#pragma once

#include <string>
#include <string_view>

namespace landtrace::output::json {

// Appends `text` in quotes. Bytes that are not UTF-8 become U+FFFD, each one by itself.
void append_string(std::string& out, std::string_view text);

}  // namespace landtrace::output::json
