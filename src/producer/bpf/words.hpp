// Words of maps: other threads read and write them at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace landtrace::bpf {

inline std::uint64_t load_relaxed(const std::uint64_t* at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
inline std::uint32_t load_relaxed(const std::uint32_t* at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }

// `to` and `from` are aligned to 8 in the map; a rest of less than 8 bytes is copied byte by byte.
inline void copy_in(std::byte* to, const void* from, std::uint64_t size) {
  const auto* source = static_cast<const std::byte*>(from);
  std::uint64_t i = 0;
  for (; i + 8 <= size; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, source + i, sizeof word);
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(to + i), word, __ATOMIC_RELAXED);
  }
  for (; i < size; ++i)
    __atomic_store_n(reinterpret_cast<unsigned char*>(to + i), static_cast<unsigned char>(source[i]), __ATOMIC_RELAXED);
}
inline void copy_out(void* to, const std::byte* from, std::uint64_t size) {
  auto* target = static_cast<std::byte*>(to);
  std::uint64_t i = 0;
  for (; i + 8 <= size; i += 8) {
    const std::uint64_t word = load_relaxed(reinterpret_cast<const std::uint64_t*>(from + i));
    std::memcpy(target + i, &word, sizeof word);
  }
  for (; i < size; ++i)
    target[i] = std::byte{__atomic_load_n(reinterpret_cast<const unsigned char*>(from + i), __ATOMIC_RELAXED)};
}
inline void clear_words(std::byte* to, std::uint64_t size) {
  for (std::uint64_t i = 0; i < size; i += 8)
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(to + i), 0, __ATOMIC_RELAXED);
}

}  // namespace landtrace::bpf
