// Hands out ranges of a segment by offset. The book-keeping lives in the owner's private memory: nothing
// that another process can write decides where the next range lies. It takes 8 bytes for a range that is in use: a
// domain has some for each event.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace landtrace {

class OffsetHeap {
 public:
  // Ranges begin and end at multiples of this.
  static constexpr std::uint64_t kUnit = 8;

  // Manages [begin, end), of at most 32 GiB. Offset 0 is never handed out, so that it can mean "none".
  OffsetHeap(std::uint64_t begin, std::uint64_t end);

  // The smallest free range in which `size` fits, and of those the first. `alignment` is a power of two. ENOMEM when
  // none is large enough. Takes time logarithmic in the number of ranges, unless none is so large that `size` fits
  // however the range is aligned: then all of them are looked at.
  Result<std::uint64_t> allocate(std::uint64_t size, std::uint64_t alignment);
  // `offset` must have come from allocate().
  void free(std::uint64_t offset);

  // In whole units.
  [[nodiscard]] std::uint64_t bytes_in_use() const { return in_use_; }
  // What is not handed out: sizes by offset.
  [[nodiscard]] const std::map<std::uint64_t, std::uint64_t>& free_ranges() const { return free_; }

 private:
  // In units.
  struct Allocated {
    std::uint32_t offset;
    std::uint32_t size;
  };
  using Range = std::pair<std::uint64_t, std::uint64_t>;  // size, offset
  using Ranges = std::set<Range>;
  static bool fits(const Range& range, std::uint64_t size, std::uint64_t alignment);
  Ranges::iterator find(std::uint64_t size, std::uint64_t alignment) const;
  void add_free(std::uint64_t offset, std::uint64_t size);
  void remove_free(std::uint64_t offset, std::uint64_t size);
  std::vector<Allocated>::iterator find_allocated(std::uint64_t offset);

  std::map<std::uint64_t, std::uint64_t> free_;  // offset -> size, coalesced
  Ranges by_size_;                               // the same
  std::vector<Allocated> allocated_;             // by offset
  std::uint64_t in_use_ = 0;
};

}  // namespace landtrace
