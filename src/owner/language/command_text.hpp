// What the commands that define events have in common: names, and the answer to a refused command.
#pragma once

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>

#include "base/character.hpp"

namespace landtrace::language {

// The kernel's answer: an errno for the writer; for the error log a sentence, and the position of the caret in the
// command.
struct CommandRefusal {
  int code = EINVAL;
  std::string_view what = {};  // empty: the error log gets nothing
  std::size_t position = 0;
  std::string own = {};  // instead of `what` a sentence of ours, that no kernel says

  [[nodiscard]] std::string text() const { return own.empty() ? std::string(what) : own; }
};

// An identifier of C; the kernel's letters are those of Latin-1.
inline bool is_good_name(std::string_view name, std::string_view also = "_") {
  const auto begins = [](char c) { return c == '_' || is_letter(c); };
  if (name.empty() || !begins(name.front())) return false;
  return std::all_of(name.begin() + 1, name.end(),
                     [&](char c) { return begins(c) || is_digit(c) || also.find(c) != std::string_view::npos; });
}
inline bool is_good_system_name(std::string_view name) { return is_good_name(name, "-"); }

}  // namespace landtrace::language
