// Words and numbers that people and programs write to the kernel's files, read as the kernel reads them.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace landtrace {

// `bytes` without the white space around it.
std::string_view trimmed(std::string_view bytes);
// A number as the kernel's kstrtoul reads it: up to a NUL, with one newline at the end perhaps. Base 0 goes by the
// prefix (0x, 0). EINVAL, ERANGE.
Result<std::uint64_t> number_in(std::string_view bytes, int base = 0);

}  // namespace landtrace
