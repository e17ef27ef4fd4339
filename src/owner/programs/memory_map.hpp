// /proc/PID/maps: which memory a process has, with which rights, and of which files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace landtrace::programs {

// A line of the file.
struct Mapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  // of the first byte, in the file
  bool readable = false;
  bool writable = false;
  std::string_view path;  // part of the line; empty: no file
};
// nullopt where the line is not one of such a file.
std::optional<Mapping> parse_mapping(std::string_view line);

enum class Access { kRead, kWrite };

// Whether the process has mapped all of the range with that right. `maps`: its /proc/PID/maps, open. The descriptor
// stays bound to the program that the process ran when it was opened, and shows nothing after exec. Several threads may
// ask by one descriptor at once.
bool permits(int maps, std::uint64_t address, std::size_t size, Access access);

// All of the map, as it was at one moment: for who asks about many places, since the system makes the whole text anew
// each time.
class MemoryMap {
 public:
  explicit MemoryMap(int maps);
  [[nodiscard]] bool permits(std::uint64_t address, std::size_t size, Access access) const;

 private:
  struct Range {
    std::uint64_t begin, end;
    bool readable, writable;
  };
  std::vector<Range> ranges_;  // in order
};

}  // namespace landtrace::programs
