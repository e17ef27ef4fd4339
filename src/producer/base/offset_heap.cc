#include "base/offset_heap.hpp"

#include <algorithm>
#include <iterator>

namespace landtrace {
namespace {

std::uint64_t aligned(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) & ~(alignment - 1);
}

}  // namespace

OffsetHeap::OffsetHeap(std::uint64_t begin, std::uint64_t end) {
  begin = aligned(std::max<std::uint64_t>(begin, 1), kUnit);
  end -= end % kUnit;
  if (begin < end) add_free(begin, end - begin);
}

void OffsetHeap::add_free(std::uint64_t offset, std::uint64_t size) {
  free_.emplace(offset, size);
  by_size_.emplace(size, offset);
}

void OffsetHeap::remove_free(std::uint64_t offset, std::uint64_t size) {
  free_.erase(offset);
  by_size_.erase({size, offset});
}

bool OffsetHeap::fits(const Range& range, std::uint64_t size, std::uint64_t alignment) {
  const auto [length, start] = range;
  const std::uint64_t skipped = aligned(start, alignment) - start;
  return length >= skipped && length - skipped >= size;
}

OffsetHeap::Ranges::iterator OffsetHeap::find(std::uint64_t size, std::uint64_t alignment) const {
  const auto smallest = by_size_.lower_bound({size, 0});
  if (smallest == by_size_.end() || fits(*smallest, size, alignment)) return smallest;
  if (size > ~std::uint64_t{0} - alignment) return by_size_.end();
  // So large that it fits wherever the range begins.
  const auto certain = by_size_.lower_bound({size + alignment - 1, 0});
  if (certain != by_size_.end()) return certain;
  return std::find_if(smallest, by_size_.end(), [&](const Range& range) { return fits(range, size, alignment); });
}

std::vector<OffsetHeap::Allocated>::iterator OffsetHeap::find_allocated(std::uint64_t offset) {
  return std::lower_bound(allocated_.begin(), allocated_.end(), offset / kUnit,
                          [](const Allocated& range, std::uint64_t unit) { return range.offset < unit; });
}

Result<std::uint64_t> OffsetHeap::allocate(std::uint64_t size, std::uint64_t alignment) {
  const auto no_room = [asked = size] {
    return fail(ENOMEM, "no room for " + std::to_string(asked) + " bytes in the segment");
  };
  if (size > ~std::uint64_t{0} - kUnit) return no_room();
  size = aligned(std::max<std::uint64_t>(size, 1), kUnit);
  const auto found = find(size, alignment);
  if (found == by_size_.end()) return no_room();
  const auto [length, start] = *found;
  const std::uint64_t offset = aligned(start, alignment);
  const std::uint64_t skipped = offset - start;
  remove_free(start, length);
  if (skipped > 0) add_free(start, skipped);
  if (length - skipped > size) add_free(offset + size, length - skipped - size);
  allocated_.insert(find_allocated(offset),
                    {static_cast<std::uint32_t>(offset / kUnit), static_cast<std::uint32_t>(size / kUnit)});
  in_use_ += size;
  return offset;
}

void OffsetHeap::free(std::uint64_t offset) {
  const auto found = find_allocated(offset);
  if (found == allocated_.end() || found->offset * kUnit != offset) return;
  std::uint64_t size = found->size * kUnit;
  in_use_ -= size;
  allocated_.erase(found);

  if (const auto next = free_.find(offset + size); next != free_.end()) {
    const std::uint64_t next_size = next->second;
    remove_free(offset + size, next_size);
    size += next_size;
  }
  const auto after = free_.lower_bound(offset);
  if (after != free_.begin()) {
    const auto [start, length] = *std::prev(after);
    if (start + length == offset) {
      remove_free(start, length);
      offset = start;
      size += length;
    }
  }
  add_free(offset, size);
}

}  // namespace landtrace
