// Memory of many megabytes that is filled once and soon freed: its pages cost more than what is done with them, unless
// they are large. Where the system has none (transparent huge pages are off) nothing is different.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace landtrace {

// Asks for large pages as far as they lie in [begin, begin + bytes).
inline void use_large_pages(const void* begin, std::size_t bytes) {
  constexpr std::uintptr_t kLargePage = 2 << 20;
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + kLargePage - 1) & ~(kLargePage - 1);
  const std::uintptr_t end = (address + bytes) & ~(kLargePage - 1);
  if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

// A vector or string gets room for `size` parts.
template <typename Container>
void reserve_large(Container& parts, std::size_t size) {
  if (parts.capacity() >= size) return;
  parts.reserve(size);
  use_large_pages(parts.data(), parts.capacity() * sizeof *parts.data());
}

}  // namespace landtrace
