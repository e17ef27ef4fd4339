// Hands out ranges of a segment by offset. The book-keeping lives in the owner's private memory: nothing
// that another process can write decides where the next range lies.
#pragma once

#include <cstdint>
#include <map>

#include "base/result.hpp"

namespace landtrace {

class OffsetHeap {
 public:
  // Manages [begin, end). Offset 0 is never handed out, so that it can mean "none".
  OffsetHeap(std::uint64_t begin, std::uint64_t end);

  // First fit. `alignment` is a power of two. ENOMEM when no range is large enough.
  Result<std::uint64_t> allocate(std::uint64_t size, std::uint64_t alignment);
  // `offset` must have come from allocate().
  void free(std::uint64_t offset);

  [[nodiscard]] std::uint64_t bytes_in_use() const { return in_use_; }

 private:
  std::map<std::uint64_t, std::uint64_t> free_;       // offset -> size, coalesced
  std::map<std::uint64_t, std::uint64_t> allocated_;  // offset -> size
  std::uint64_t in_use_ = 0;
};

}  // namespace landtrace
