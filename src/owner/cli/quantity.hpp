// Numbers with units, as they are typed and as they are shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace landtrace::cli {

// "512K", "4M", "1G", or bytes without a suffix. EINVAL for anything else, for 0 and for what overflows.
Result<std::uint64_t> parse_size(std::string_view text);

// Seconds with up to nine decimals, exactly: "12.345678" is 12345678000. EINVAL for anything else.
Result<std::uint64_t> parse_seconds(std::string_view text);

// Of options, by which messages begin: --buffer-size, which no ring's limit is below; and a time that is not 0.
Result<std::uint64_t> parse_buffer_size(const std::string& text);
Result<std::uint64_t> parse_time_option(const char* option, const std::string& text);

// "512 B", "4.0 KiB", "1.5 GiB".
std::string size_text(std::uint64_t bytes);

// "1234567" -> "1,234,567".
std::string count_text(std::uint64_t count);

}  // namespace landtrace::cli
