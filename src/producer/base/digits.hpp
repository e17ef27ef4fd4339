// Numbers as digits, for texts of which there are millions. Each function writes at `at`, where there must be room, and
// returns the end.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
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

// "00", "01", … "ff".
inline constexpr auto kHexPairs = [] {
  std::array<std::array<char, 2>, 256> pairs{};
  for (unsigned i = 0; i < 256; ++i) pairs[i] = {"0123456789abcdef"[i >> 4], "0123456789abcdef"[i & 15]};
  return pairs;
}();

inline int decimal_digits(std::uint64_t number) {
  int digits = 1;
  for (; number >= 1000; number /= 1000) digits += 3;
  return digits + (number >= 10 ? 1 : 0) + (number >= 100 ? 1 : 0);
}

// At least `width` characters, which must be 20 or fewer; at most 40.
template <std::unsigned_integral T>
char* put_right(char* at, T number, int width, char fill = ' ') {
  const int length = decimal_digits(number);
  for (; width > length; --width) *at++ = fill;
  char* const end = at + length;
  // Backwards: in place.
  for (char* digit = end; digit > at; number /= 10) *--digit = static_cast<char>('0' + number % 10);
  return end;
}

template <typename T>
char* put_left(char* at, T number, int width) {
  char* const start = at;
  at = put_decimal(at, number);
  while (at - start < width) *at++ = ' ';
  return at;
}

}  // namespace landtrace
