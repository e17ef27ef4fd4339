// Texts of programs where only UTF-8 may stand.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace landtrace::output {

inline constexpr std::string_view kReplacementCharacter = "\xef\xbf\xbd";

// Length of the well-formed sequence at the start of `text`, which is not ASCII; 0: there is none.
std::size_t utf8_length(std::string_view text);

// The text with a replacement character for each byte that is none of UTF-8.
std::string valid_utf8(std::string_view text);

// Control characters from `begin` on as C writes them: \n, \t, \x1b.
void escape_controls(std::string& text, std::size_t begin);

}  // namespace landtrace::output
