// The wire format of protocol buffers, as far as it takes to write messages.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace landtrace::output::proto {

enum class Wire : std::uint32_t { kVarint = 0, kFixed64 = 1, kLength = 2 };

inline void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

inline void put_tag(std::string& out, std::uint32_t field, Wire wire) {
  put_varint(out, field << 3 | static_cast<std::uint32_t>(wire));
}

inline void put(std::string& out, std::uint32_t field, std::uint64_t value) {
  put_tag(out, field, Wire::kVarint);
  put_varint(out, value);
}

// int32 and int64: negative numbers have ten bytes.
inline void put_signed(std::string& out, std::uint32_t field, std::int64_t value) {
  put(out, field, static_cast<std::uint64_t>(value));
}

inline void put_fixed(std::string& out, std::uint32_t field, std::uint64_t value) {
  put_tag(out, field, Wire::kFixed64);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void put_double(std::string& out, std::uint32_t field, double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  put_fixed(out, field, bits);
}

// A text, bytes, or a message.
inline void put(std::string& out, std::uint32_t field, std::string_view bytes) {
  put_tag(out, field, Wire::kLength);
  put_varint(out, bytes.size());
  out += bytes;
}

}  // namespace landtrace::output::proto
