// Numbers as digits, for texts of which there are millions. Each function writes at `at`, where there must be room, and
// returns the end.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace landtrace {

// "00", "01", … "99".
inline constexpr auto kDecimalPairs = [] {
  std::array<std::array<char, 2>, 100> pairs{};
  for (unsigned i = 0; i < 100; ++i) pairs[i] = {static_cast<char>('0' + i / 10), static_cast<char>('0' + i % 10)};
  return pairs;
}();

inline constexpr std::size_t kMaxDigits = 20;

inline char* put_text(char* at, std::string_view text) {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

// "00", "01", … "ff".
inline constexpr auto kHexPairs = [] {
  std::array<std::array<char, 2>, 256> pairs{};
  for (unsigned i = 0; i < 256; ++i) pairs[i] = {"0123456789abcdef"[i >> 4], "0123456789abcdef"[i & 15]};
  return pairs;
}();

inline constexpr auto kPowersOfTen = [] {
  std::array<std::uint64_t, kMaxDigits> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

inline int decimal_digits(std::uint64_t number) {
  number |= 1;  // 0 has a digit, and no other number gets another length by it
  const int too_few = static_cast<int>(std::bit_width(number)) * 1233 >> 12;  // the logarithm of 2
  return too_few + (number >= kPowersOfTen[static_cast<std::size_t>(too_few)] ? 1 : 0);
}

// Its digits, of which there are so many.
inline char* put_digits(char* at, std::uint64_t number, int length) {
  char* const end = at + length;
  // Backwards, in pairs: half as many divisions.
  char* pair = end;
  for (; number >= 100; number /= 100) std::memcpy(pair -= 2, kDecimalPairs[number % 100].data(), 2);
  if (number >= 10) {
    std::memcpy(at, kDecimalPairs[number].data(), 2);
  } else {
    *at = static_cast<char>('0' + number);
  }
  return end;
}

template <std::integral T>
char* put_decimal(char* at, T number) {
  auto size = static_cast<std::uint64_t>(number);
  if constexpr (std::is_signed_v<T>) {
    if (number < 0) {
      *at++ = '-';
      size = -size;
    }
  }
  return put_digits(at, size, decimal_digits(size));
}

template <std::integral T>
char* put_hex(char* at, T number) {
  auto rest = static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<T>>(number));
  char* const end = at + (static_cast<int>(std::bit_width(rest | 1)) + 3) / 4;
  char* pair = end;
  for (; rest >= 16 && pair - at >= 2; rest >>= 8) std::memcpy(pair -= 2, kHexPairs[rest & 0xff].data(), 2);
  if (pair > at) *at = kHexPairs[rest][1];
  return end;
}

// At least `width` characters, which must be 20 or fewer; at most 40.
template <std::unsigned_integral T>
char* put_right(char* at, T number, int width, char fill = ' ') {
  const int length = decimal_digits(number);
  for (; width > length; --width) *at++ = fill;
  return put_digits(at, number, length);
}

template <typename T>
char* put_left(char* at, T number, int width) {
  char* const start = at;
  at = put_decimal(at, number);
  while (at - start < width) *at++ = ' ';
  return at;
}

}  // namespace landtrace
