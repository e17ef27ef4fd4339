// Numbers as text, appended: what is written for each event of a recording of millions.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>

namespace landtrace::output {

template <std::integral T>
void append_decimal(std::string& out, T value) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));
}

// Nanoseconds as microseconds: "1234.005".
inline void append_us(std::string& out, std::uint64_t ns) {
  constexpr std::uint64_t kUs = 1000;
  append_decimal(out, ns / kUs);
  const auto rest = static_cast<unsigned>(ns % kUs);
  const char text[] = {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                       static_cast<char>('0' + rest % 10)};
  out.append(text, sizeof text);
}

}  // namespace landtrace::output
