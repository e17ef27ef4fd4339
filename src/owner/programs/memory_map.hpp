// /proc/PID/maps: which memory a process has, with which rights, and of which files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

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
// stays bound to the program that the process ran when it was opened, and shows nothing after exec.
bool permits(int maps, std::uint64_t address, std::size_t size, Access access);

}  // namespace landtrace::programs
