// Character classes as the kernel has them: Latin-1, whatever the locale.
#pragma once

#include <string_view>

namespace landtrace {

constexpr bool is_space(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code == ' ' || (code >= '\t' && code <= '\r') || code == 0xa0;
}

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr bool is_letter(char c) {
  const auto code = static_cast<unsigned char>(c);
  const unsigned lower = code | 0x20u;
  if (lower >= 'a' && lower <= 'z') return true;
  // The signs of multiplication and division are none.
  return code >= 0xc0 && code != 0xd7 && code != 0xf7;
}

constexpr bool is_alnum(char c) { return is_digit(c) || is_letter(c); }

constexpr bool is_printable(unsigned char code) { return (code >= 0x20 && code <= 0x7e) || code >= 0xa0; }

constexpr std::string_view skip_spaces(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  return text;
}

}  // namespace landtrace
