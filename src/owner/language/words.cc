#include "language/words.hpp"

namespace landtrace::language {
namespace {

constexpr std::size_t kMaxWord = 127;

bool ends_word(char c) { return is_space(c) || c == '\0'; }

}  // namespace

Result<Word> next_word(std::string_view bytes) {
  std::string_view rest = skip_spaces(bytes);
  const std::string_view word = take_while(rest, [](char c) { return !ends_word(c); });
  if (word.size() > kMaxWord) return fail(EINVAL, "a word is too long");
  return Word{word, std::min(bytes.size() - rest.size() + 1, bytes.size())};
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (text = skip_spaces(text); !text.empty(); text = skip_spaces(text)) {
    words.push_back(take_while(text, [](char c) { return !is_space(c); }));
  }
  return words;
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::optional<std::string_view> rest = text;
  while (rest) parts.push_back(take_until(rest, {&separator, 1}));
  return parts;
}

}  // namespace landtrace::language
