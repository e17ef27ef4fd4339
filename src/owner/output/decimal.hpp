// Numbers as text, appended: what is written for each event of a recording of millions.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>

#include "base/digits.hpp"

namespace landtrace::output {

template <std::integral T>
void append_decimal(std::string& out, T value) {
  char digits[kMaxDigits];
  out.append(digits, static_cast<std::size_t>(put_decimal(digits, value) - digits));
}

// Nanoseconds as microseconds: "1234.005". Writes at `at`, where there must be room, and returns the end.
inline char* put_us(char* at, std::uint64_t ns) {
  constexpr std::uint64_t kUs = 1000;
  at = put_decimal(at, ns / kUs);
  *at++ = '.';
  return put_right(at, ns % kUs, 3, '0');
}

}  // namespace landtrace::output
