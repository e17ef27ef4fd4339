#include "attach/mapped_range.hpp"

#include <algorithm>
#include <cstdio>

namespace landtrace::attach {
namespace {

// The lowest address that a program may map, the highest, and what a stack may still grow by.
constexpr std::uint64_t kLowest = 0x10000;
constexpr std::uint64_t kHighest = 0x7fff'0000'0000;

}  // namespace

std::vector<MappedRange> mapped_ranges(const std::string& text) {
  std::vector<MappedRange> ranges;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    MappedRange range;
    char rights[5] = {};
    int path_at = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %*s %lu %n", &range.begin, &range.end, rights, &range.offset,
                    &range.inode, &path_at) < 5) {
      continue;
    }
    const std::uint64_t told = ranges.empty() ? 0 : ranges.back().end;
    if (range.end <= told) continue;
    if (range.begin < told) {
      range.offset += told - range.begin;
      range.begin = told;
    }
    range.is_executable = rights[2] == 'x';
    range.is_private = rights[3] == 'p';
    if (path_at > 0) range.path = line.substr(static_cast<std::size_t>(path_at));
    ranges.push_back(std::move(range));
  }
  return ranges;
}

const MappedRange* range_of(const std::vector<MappedRange>& ranges, std::uint64_t address) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                      [](std::uint64_t at, const MappedRange& range) { return at < range.begin; });
  if (after == ranges.begin()) return nullptr;
  const MappedRange& range = *std::prev(after);
  return address < range.end ? &range : nullptr;
}

std::uint64_t middle_of_largest_hole(const std::vector<MappedRange>& ranges, std::uint64_t least) {
  std::uint64_t before = kLowest;
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  for (const MappedRange& range : ranges) {
    if (range.begin > kHighest) break;
    if (range.begin > before && range.begin - before > size) {
      begin = before;
      size = range.begin - before;
    }
    before = std::max(before, range.end);
  }
  return size < least ? 0 : (begin + size / 2) & ~std::uint64_t{4095};
}

}  // namespace landtrace::attach
