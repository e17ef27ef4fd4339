// Numbers as digits, for texts of which there are millions. Each function writes at `at`, where there must be room, and
// returns the end.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace landtrace {

inline constexpr std::size_t kMaxDigits = 20;

inline char* put_text(char* at, std::string_view text) {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

template <typename T>
char* put_decimal(char* at, T number) {
  return std::to_chars(at, at + kMaxDigits + 1, number).ptr;
}

template <typename T>
char* put_hex(char* at, T number) {
  return std::to_chars(at, at + kMaxDigits, number, 16).ptr;
}

// At least `width` characters, which must be 20 or fewer; at most 40.
template <typename T>
char* put_right(char* at, T number, int width, char fill = ' ') {
  char digits[kMaxDigits + 1];
  const auto length = static_cast<int>(put_decimal(digits, number) - digits);
  for (; width > length; --width) *at++ = fill;
  std::memcpy(at, digits, static_cast<std::size_t>(length));
  return at + length;
}

template <typename T>
char* put_left(char* at, T number, int width) {
  char* const start = at;
  at = put_decimal(at, number);
  while (at - start < width) *at++ = ' ';
  return at;
}

}  // namespace landtrace
