// The wire format of protocol buffers, as far as it takes to write messages.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace landtrace::output::proto {

enum class Wire : std::uint32_t { kVarint = 0, kFixed64 = 1, kLength = 2 };

inline constexpr std::size_t kLongestVarint = 10;

// Writes at `at`, and returns the end.
inline char* put_varint(char* at, std::uint64_t value) {
  while (value >= 0x80) {
    *at++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<char>(value);
  return at;
}

inline char* put_tag(char* at, std::uint32_t field, Wire wire) {
  return put_varint(at, field << 3 | static_cast<std::uint32_t>(wire));
}

// A tag and a number; of bytes that follow, how many.
inline constexpr std::size_t kLongestHead = 2 * kLongestVarint;
inline char* put_head(char* at, std::uint32_t field, Wire wire, std::uint64_t value) {
  return put_varint(put_tag(at, field, wire), value);
}

inline void append(std::string& out, const char* begin, const char* end) {
  out.append(begin, static_cast<std::size_t>(end - begin));
}

inline void put(std::string& out, std::uint32_t field, std::uint64_t value) {
  char bytes[kLongestHead];
  append(out, bytes, put_head(bytes, field, Wire::kVarint, value));
}

// int32 and int64: negative numbers have ten bytes.
inline void put_signed(std::string& out, std::uint32_t field, std::int64_t value) {
  put(out, field, static_cast<std::uint64_t>(value));
}

inline char* put_fixed(char* at, std::uint32_t field, std::uint64_t value) {
  at = put_tag(at, field, Wire::kFixed64);
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

inline void put_fixed(std::string& out, std::uint32_t field, std::uint64_t value) {
  char bytes[kLongestHead];
  append(out, bytes, put_fixed(bytes, field, value));
}

inline void put_double(std::string& out, std::uint32_t field, double value) {
  put_fixed(out, field, std::bit_cast<std::uint64_t>(value));
}

// A text, bytes, or a message.
inline void put(std::string& out, std::uint32_t field, std::string_view bytes) {
  char head[kLongestHead];
  append(out, head, put_head(head, field, Wire::kLength, bytes.size()));
  out += bytes;
}

// Of the first field in a message, of which it has only lengths: how many bytes it takes. 0: it is none, or not whole.
inline std::size_t field_size(std::string_view bytes) {
  constexpr std::uint32_t kWireBits = 7;
  std::uint64_t numbers[2] = {};
  std::size_t at = 0;
  for (std::uint64_t& number : numbers) {
    for (unsigned shift = 0;; shift += 7) {
      if (at == bytes.size() || shift >= 64) return 0;
      const auto byte = static_cast<unsigned char>(bytes[at++]);
      number |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) break;
    }
  }
  const bool is_length = (numbers[0] & kWireBits) == static_cast<std::uint64_t>(Wire::kLength) && numbers[0] >> 3 != 0;
  return is_length && numbers[1] <= bytes.size() - at ? at + numbers[1] : 0;
}

}  // namespace landtrace::output::proto
