#include "programs/memory_map.hpp"

#include <unistd.h>

#include <charconv>
#include <string>

namespace landtrace::programs {
namespace {

// Takes a hexadecimal number off the text, and the character that follows it.
bool take_number(std::string_view& text, std::uint64_t& number) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (parsed.ec != std::errc()) return false;
  const auto length = static_cast<std::size_t>(parsed.ptr - text.data());
  if (length == text.size()) return false;
  text.remove_prefix(length + 1);
  return true;
}

}  // namespace

// "BEGIN-END rwxp OFFSET MAJOR:MINOR INODE      PATH"
std::optional<Mapping> parse_mapping(std::string_view line) {
  constexpr std::size_t kRights = 5;  // with the blank behind them
  Mapping mapping;
  if (!take_number(line, mapping.begin) || !take_number(line, mapping.end) || line.size() < kRights)
    return std::nullopt;
  mapping.readable = line[0] == 'r';
  mapping.writable = line[1] == 'w';
  line.remove_prefix(kRights);
  if (!take_number(line, mapping.offset)) return std::nullopt;
  // Nothing before the path has a slash; what is not a file has a name like [heap], or none.
  if (const auto path = line.find('/'); path != std::string_view::npos) mapping.path = line.substr(path);
  return mapping;
}

bool permits(int maps, std::uint64_t address, std::size_t size, Access access) {
  const std::uint64_t wanted = address + size;
  if (wanted < address || ::lseek(maps, 0, SEEK_SET) != 0) return false;
  std::string text;
  char buffer[16384];
  // Read piece by piece: a big program has megabytes of it, and what is asked for is often found early.
  for (ssize_t n; (n = ::read(maps, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
    std::size_t at = 0;
    for (std::size_t end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      const auto mapping = parse_mapping(std::string_view(text).substr(at, end - at));
      // Lines are sorted: the address is in a gap before this one.
      if (!mapping || address < mapping->begin) return false;
      if (address >= mapping->end) continue;
      if (!(access == Access::kRead ? mapping->readable : mapping->writable)) return false;
      if (wanted <= mapping->end) return true;
      address = mapping->end;  // the next mapping must have the rest
    }
    text.erase(0, at);  // what is left is the beginning of a line
  }
  return false;
}

}  // namespace landtrace::programs
