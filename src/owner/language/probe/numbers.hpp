// Numbers as the kernel reads them from text: 0x…, 0… and plain ones. Internal to language.
#pragma once

#include <cstdint>
#include <string_view>
#include <tl/expected.hpp>

namespace landtrace::language {

// ERANGE, EINVAL. Base 0: as the digits say; a '+' may stand in front.
tl::expected<std::uint64_t, int> read_unsigned(std::string_view text, int base = 0);
tl::expected<std::int64_t, int> read_signed(std::string_view text);
// Takes the digits off the front; 0 if there are none.
std::uint64_t take_digits(std::string_view& text);

}  // namespace landtrace::language
