#include "programs/memory_map.hpp"

#include <unistd.h>

#include <algorithm>
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

// Calls `see` with each mapping until that returns false. By offsets of its own: the descriptor's is shared with other
// threads.
template <typename See>
void for_each_mapping(int maps, See see) {
  std::string text;
  char buffer[16384];
  off_t read = 0;
  // Piece by piece: a big program has megabytes of it, and what is asked for is often found early.
  for (ssize_t n; (n = ::pread(maps, buffer, sizeof buffer, read)) > 0; read += n) {
    text.append(buffer, static_cast<std::size_t>(n));
    std::size_t at = 0;
    for (std::size_t end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      const auto mapping = parse_mapping(std::string_view(text).substr(at, end - at));
      if (!mapping || !see(*mapping)) return;
    }
    text.erase(0, at);  // what is left is the beginning of a line
  }
}

// A range of memory that has to be found in one mapping after the other.
class Wanted {
 public:
  Wanted(std::uint64_t address, std::size_t size, Access access)
      : address_(address), end_(address + size), access_(access) {}

  // False once it is known whether all of it is there, with the right to it.
  template <typename Range>
  bool look_at(const Range& mapping) {
    if (end_ < address_ || address_ < mapping.begin) return false;  // they are in order: it is in a gap
    if (address_ >= mapping.end) return true;
    if (!(access_ == Access::kRead ? mapping.readable : mapping.writable)) return false;
    is_found_ = end_ <= mapping.end;
    address_ = mapping.end;  // the next mapping must have the rest
    return !is_found_;
  }
  [[nodiscard]] bool is_found() const { return is_found_; }

 private:
  std::uint64_t address_, end_;
  Access access_;
  bool is_found_ = false;
};

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
  Wanted wanted(address, size, access);
  for_each_mapping(maps, [&](const Mapping& mapping) { return wanted.look_at(mapping); });
  return wanted.is_found();
}

MemoryMap::MemoryMap(int maps) {
  for_each_mapping(maps, [&](const Mapping& mapping) {
    ranges_.push_back({mapping.begin, mapping.end, mapping.readable, mapping.writable});
    return true;
  });
}

bool MemoryMap::permits(std::uint64_t address, std::size_t size, Access access) const {
  Wanted wanted(address, size, access);
  auto at = std::partition_point(ranges_.begin(), ranges_.end(), [&](const Range& r) { return r.end <= address; });
  while (at != ranges_.end() && wanted.look_at(*at)) ++at;
  return wanted.is_found();
}

}  // namespace landtrace::programs
