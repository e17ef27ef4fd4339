// What the commands that define events have in common: words, names, and what a refused one is answered with.
#pragma once

#include <cerrno>
#include <string_view>
#include <vector>

#include "event/character.hpp"

namespace landtrace::language {

// As the kernel answers: an errno for the writer, and for the error log a sentence and where in the command the caret is.
struct CommandRefusal {
  int code = EINVAL;
  std::string_view what = {};  // empty: the error log gets nothing
  std::size_t position = 0;
};

inline std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (text = event::skip_spaces(text); !text.empty(); text = event::skip_spaces(text)) {
    std::size_t size = 0;
    while (size < text.size() && !event::is_space(text[size])) ++size;
    words.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return words;
}

// An identifier of C; the kernel's letters are those of Latin-1.
inline bool is_good_name(std::string_view name, std::string_view also = "_") {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_letter = [](char c) {
    const auto code = static_cast<unsigned char>(c);
    const unsigned lower = code | 0x20u;
    return c == '_' || (lower >= 'a' && lower <= 'z') || (code >= 0xc0 && code != 0xd7 && code != 0xf7);
  };
  if (name.empty() || !is_letter(name.front())) return false;
  for (const char c : name.substr(1)) {
    if (!is_letter(c) && !is_digit(c) && also.find(c) == std::string_view::npos) return false;
  }
  return true;
}
inline bool is_good_system_name(std::string_view name) { return is_good_name(name, "-"); }

}  // namespace landtrace::language
