// Character classes as the kernel has them: Latin-1, whatever the locale.
#pragma once

#include "event/character.hpp"

namespace landtrace::language {

using event::is_space;

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline bool is_alnum(char c) {
  const auto code = static_cast<unsigned char>(c);
  const unsigned lower = code | 0x20u;
  if (is_digit(c) || (lower >= 'a' && lower <= 'z')) return true;
  return code >= 0xc0 && code != 0xd7 && code != 0xf7;  // letters, but for the signs of multiplication and division
}

}  // namespace landtrace::language
