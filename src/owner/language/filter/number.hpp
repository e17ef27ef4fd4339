// Numbers as the kernel reads them in an expression.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace landtrace::language {

// 0x… is hexadecimal, 0… octal. nullopt for anything that is not wholly a number, or that 64 bits do not hold.
std::optional<std::uint64_t> parse_unsigned(std::string_view text);
// The same with an optional '-', for what a signed number of 64 bits holds.
std::optional<std::int64_t> parse_signed(std::string_view text);

}  // namespace landtrace::language
