// A record's payload as its fields see it. Internal to the event layer.
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "event/declaration.hpp"

namespace landtrace::event {

using Bytes = std::span<const std::byte>;

// `size` bytes at `offset` from the start of the entry; nullopt when they are not all payload. Nothing at all
// may begin in the common header.
inline std::optional<Bytes> entry_bytes(Bytes payload, std::uint64_t offset, std::uint64_t size) {
  if (offset + size > payload.size() + kCommonHeaderSize) return std::nullopt;
  if (size == 0) return Bytes();
  if (offset < kCommonHeaderSize) return std::nullopt;
  return payload.subspan(offset - kCommonHeaderSize, size);
}

template <typename T>
T load(Bytes bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

// 1, 2, 4 or 8 bytes without a sign; 0 for any other size.
inline std::uint64_t load_unsigned(Bytes bytes) {
  std::uint64_t value = 0;
  if (bytes.size() <= sizeof value) std::memcpy(&value, bytes.data(), bytes.size());
  return value;
}

// What the u32 at the beginning of `location` names, from the start of the entry.
inline std::optional<Bytes> located(Bytes payload, Bytes location) {
  const auto word = load<std::uint32_t>(location);
  return entry_bytes(payload, word & 0xffff, word >> 16);
}

inline void print_text(std::string& out, Bytes bytes) {
  if (bytes.empty()) return;
  const auto* const text = reinterpret_cast<const char*>(bytes.data());
  out.append(text, ::strnlen(text, bytes.size()));
}

inline constexpr const char* kOverflow = "<OVERFLOW>";

}  // namespace landtrace::event
