// Character classes as the kernel has them: Latin-1, whatever the locale.
#pragma once

#include <string_view>

namespace landtrace::event {

inline bool is_space(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code == ' ' || (code >= '\t' && code <= '\r') || code == 0xa0;
}

inline bool is_printable(unsigned char code) { return (code >= 0x20 && code <= 0x7e) || code >= 0xa0; }

inline std::string_view skip_spaces(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  return text;
}

}  // namespace landtrace::event
