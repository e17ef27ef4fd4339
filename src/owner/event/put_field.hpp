// The most frequent kinds of fields as text. `To` is what collects it: room(size) gives where so many characters may be
// written, end(at) says where they end. Internal to the event layer.
#pragma once

#include <algorithm>

#include "base/character.hpp"
#include "base/digits.hpp"
#include "event/declaration.hpp"
#include "event/print_text.hpp"

namespace landtrace::event {

// "0x7 (7)". The kernel prints by size alone. The declared sign is ignored: 2 bytes are always unsigned, 4 and 8
// signed.
inline constexpr std::size_t kHexAndDecimal = 2 * kMaxDigits + 8;
template <typename Hex, typename Decimal>
char* put_hex_and_decimal(char* at, const std::byte* bytes) {
  *at++ = '0';
  *at++ = 'x';
  const auto number = abi::load<Hex>(bytes);
  if (number < 10) {
    *at++ = static_cast<char>('0' + number);
    *at++ = ' ';
    *at++ = '(';
    *at++ = static_cast<char>('0' + number);
  } else {
    at = put_hex(at, number);
    *at++ = ' ';
    *at++ = '(';
    at = put_decimal(at, static_cast<Decimal>(number));
  }
  *at++ = ')';
  return at;
}

// "'B'(66)"
inline char* put_byte(char* at, std::uint8_t value) {
  if (is_printable(value)) {
    *at++ = '\'';
    *at++ = static_cast<char>(value);
    *at++ = '\'';
  }
  *at++ = '(';
  at = put_decimal(at, value);
  *at++ = ')';
  return at;
}

// A number of that size, for which there is room of kHexAndDecimal. nullptr: there is none of that size.
inline char* put_number(char* at, const std::byte* bytes, std::size_t size) {
  switch (size) {
    case 1:
      return put_byte(at, abi::load<std::uint8_t>(bytes));
    case 2:
      return put_hex_and_decimal<std::uint16_t, std::uint16_t>(at, bytes);
    case 4:
      return put_hex_and_decimal<std::uint32_t, std::int32_t>(at, bytes);
    case 8:
      return put_hex_and_decimal<std::uint64_t, std::int64_t>(at, bytes);
    default:
      return nullptr;
  }
}

// "01,02,ff,": what each byte is, with the comma behind it and one more character that the next one overwrites.
inline constexpr auto kHexAndComma = [] {
  std::array<std::array<char, 4>, 256> texts{};
  for (unsigned i = 0; i < 256; ++i) texts[i] = {kHexPairs[i][0], kHexPairs[i][1], ',', ' '};
  return texts;
}();

// "01,02,ff"
template <typename To>
void put_bytes(To& to, Bytes bytes) {
  constexpr std::size_t kPiece = 128;
  while (!bytes.empty()) {
    const Bytes piece = bytes.first(std::min(bytes.size(), kPiece));
    bytes = bytes.subspan(piece.size());
    char* at = to.room(3 * piece.size() + 1);
    for (const std::byte b : piece) {
      std::memcpy(at, kHexAndComma[std::to_integer<std::uint8_t>(b)].data(), 4);
      at += 3;
    }
    to.end(bytes.empty() ? at - 1 : at);
  }
}

}  // namespace landtrace::event
