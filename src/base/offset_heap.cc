#include "base/offset_heap.hpp"

#include <algorithm>
#include <iterator>

namespace landtrace {

OffsetHeap::OffsetHeap(std::uint64_t begin, std::uint64_t end) {
  begin = std::max<std::uint64_t>(begin, 1);
  if (begin < end) free_.emplace(begin, end - begin);
}

Result<std::uint64_t> OffsetHeap::allocate(std::uint64_t size, std::uint64_t alignment) {
  size = std::max<std::uint64_t>(size, 1);
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const auto [start, length] = *it;
    const std::uint64_t offset = (start + alignment - 1) & ~(alignment - 1);
    const std::uint64_t skipped = offset - start;
    if (length < skipped || length - skipped < size) continue;
    free_.erase(it);
    if (skipped > 0) free_.emplace(start, skipped);
    if (length - skipped > size) free_.emplace(offset + size, length - skipped - size);
    allocated_.emplace(offset, size);
    in_use_ += size;
    return offset;
  }
  return fail(ENOMEM, "no room for " + std::to_string(size) + " bytes in the segment");
}

void OffsetHeap::free(std::uint64_t offset) {
  const auto found = allocated_.find(offset);
  if (found == allocated_.end()) return;
  std::uint64_t size = found->second;
  in_use_ -= size;
  allocated_.erase(found);

  auto next = free_.lower_bound(offset);
  if (next != free_.end() && offset + size == next->first) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      previous->second += size;
      return;
    }
  }
  free_.emplace(offset, size);
}

}  // namespace landtrace
