#include "programs/memory_map.hpp"

#include <unistd.h>

#include <charconv>
#include <string>
#include <string_view>

namespace landtrace::programs {
namespace {

struct Range {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  bool readable = false;
  bool writable = false;
};

// "FIRST-END PERMISSIONS ..."
Range parse(std::string_view line) {
  Range range;
  const char* const stop = line.data() + line.size();
  const auto first = std::from_chars(line.data(), stop, range.first, 16);
  if (first.ptr == stop) return {};
  const auto end = std::from_chars(first.ptr + 1, stop, range.end, 16);
  if (stop - end.ptr < 3) return {};
  range.readable = end.ptr[1] == 'r';
  range.writable = end.ptr[2] == 'w';
  return range;
}

}  // namespace

bool permits(int maps, std::uint64_t address, std::size_t size, Access access) {
  const std::uint64_t wanted = address + size;
  if (wanted < address || ::lseek(maps, 0, SEEK_SET) != 0) return false;
  std::string text;
  char buffer[16384];
  for (ssize_t n; (n = ::read(maps, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
    std::size_t at = 0;
    for (std::size_t end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      const Range range = parse(std::string_view(text).substr(at, end - at));
      if (address < range.first) return false;  // they are sorted
      if (address >= range.end) continue;
      if (!(access == Access::kRead ? range.readable : range.writable)) return false;
      if (wanted <= range.end) return true;
      address = range.end;  // the rest is the next one's
    }
    text.erase(0, at);
  }
  return false;
}

}  // namespace landtrace::programs
