// Text cut into words: the one tokenizer of what is written to files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/character.hpp"
#include "base/result.hpp"

namespace landtrace::language {

// -- from the front of a text ---------------------------------------------------------------------------------------
// Takes the characters that are `wanted`.
template <typename Wanted>
std::string_view take_while(std::string_view& text, Wanted wanted) {
  const auto end = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), wanted) - text.begin());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end);
  return taken;
}

// Takes the text up to one of `ends`, and that character; nullopt is left where none of them is there.
inline std::string_view take_until(std::optional<std::string_view>& text, std::string_view ends) {
  const std::string_view all = *text;
  const auto end = all.find_first_of(ends);
  text = end == std::string_view::npos ? std::nullopt : std::optional(all.substr(end + 1));
  return all.substr(0, end);
}

struct Word {
  std::string_view text;  // empty: there was only white space
  std::size_t taken = 0;  // bytes up to here, with the separator behind the word
};
// The first word of what was written, as set_event and set_event_pid take one: white space in front of it is skipped,
// and white space or a NUL ends it. EINVAL for one of more than 127 bytes.
Result<Word> next_word(std::string_view bytes);

// What a C program that writes its string with the NUL means.
inline std::string_view until_nul(std::string_view bytes) { return bytes.substr(0, bytes.find('\0')); }

// -- all of a text --------------------------------------------------------------------------------------------------
// What stands between white space.
std::vector<std::string_view> split_words(std::string_view text);

// All parts between the separators; "" is one empty part.
std::vector<std::string_view> parts_of(std::string_view text, char separator);

}  // namespace landtrace::language
