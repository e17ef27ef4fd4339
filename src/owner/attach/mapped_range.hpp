// What is mapped in a process, as its maps file says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace landtrace::attach {

struct MappedRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;
  std::uint64_t inode = 0;
  bool is_executable = false;
  bool is_private = false;
  std::string path;  // or "[stack]", or ""
};

// Of a file's text, which was read page by page while the program went on: what has grown downwards between two pages
// shows up again, and begins before the end of what stands before it. Here ranges ascend and none overlap.
std::vector<MappedRange> mapped_ranges(const std::string& text);

// The one that holds the address, of ranges in their order; nullptr: none.
const MappedRange* range_of(const std::vector<MappedRange>& ranges, std::uint64_t address);

// In the middle of the largest part of a program's addresses where nothing is mapped; 0: it has less bytes than
// `least`.
std::uint64_t middle_of_largest_hole(const std::vector<MappedRange>& ranges, std::uint64_t least);

}  // namespace landtrace::attach
