// Base64, as atob() of browsers reads it: with padding, without newlines.
#pragma once

#include <string>
#include <string_view>

namespace landtrace::output::page {

void append_base64(std::string& out, std::string_view bytes);

}  // namespace landtrace::output::page
