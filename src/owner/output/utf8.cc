#include "output/utf8.hpp"

#include <algorithm>

namespace landtrace::output {
namespace {

unsigned char utf8_byte(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

bool is_continuation(unsigned char c) { return (c & 0xc0) == 0x80; }

}  // namespace

// Table 3-7 of the Unicode standard: the second byte shows overlong forms and surrogates.
std::size_t utf8_length(std::string_view text) {
  const unsigned char first = utf8_byte(text, 0);
  const unsigned char second = utf8_byte(text, 1);
  if (first < 0xc2 || first > 0xf4 || !is_continuation(second)) return 0;
  if (first < 0xe0) return 2;
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
  if (!is_continuation(utf8_byte(text, 2))) return 0;
  if (first < 0xf0) return 3;
  if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
  return is_continuation(utf8_byte(text, 3)) ? 4 : 0;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const bool is_ascii = utf8_byte(text, 0) < 0x80;
    const std::size_t length = is_ascii ? 1 : utf8_length(text);
    out += length > 0 ? text.substr(0, length) : kReplacementCharacter;
    text.remove_prefix(length > 0 ? length : 1);
  }
  return out;
}

void escape_controls(std::string& text, std::size_t begin) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
  const auto at = text.begin() + static_cast<std::ptrdiff_t>(begin);
  if (std::none_of(at, text.end(), is_control)) return;
  const std::string raw(at, text.end());
  text.resize(begin);
  for (const char c : raw) {
    if (!is_control(c)) {
      text += c;
    } else if (c == '\n' || c == '\t') {
      text += c == '\n' ? "\\n" : "\\t";
    } else {
      constexpr std::string_view kDigits = "0123456789abcdef";
      text.append("\\x").append(1, kDigits[static_cast<unsigned char>(c) >> 4]).append(1, kDigits[c & 0xf]);
    }
  }
}

}  // namespace landtrace::output
