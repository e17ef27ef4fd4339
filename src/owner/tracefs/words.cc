#include "tracefs/words.hpp"

#include <algorithm>

namespace landtrace::tracefs {
namespace {

constexpr std::size_t kMaxWord = 127;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool ends_word(char c) { return is_space(c) || c == '\0'; }

}  // namespace

Result<Word> next_word(std::string_view bytes) {
  const auto first = std::find_if_not(bytes.begin(), bytes.end(), is_space);
  const auto last = std::find_if(first, bytes.end(), ends_word);
  const auto size = static_cast<std::size_t>(last - first);
  if (size > kMaxWord) return fail(EINVAL, "a word is too long");
  const auto end = static_cast<std::size_t>(last - bytes.begin());
  return Word{bytes.substr(end - size, size), std::min(end + 1, bytes.size())};
}

}  // namespace landtrace::tracefs
