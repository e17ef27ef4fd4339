#include "programs/subordinate_ids.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/fd.hpp"

namespace landtrace::programs {
namespace {

constexpr std::size_t kLongest = 1 << 20;

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

// Lines are HOLDER:FIRST:COUNT.
SubordinateIds SubordinateIds::read(const std::string& path) {
  SubordinateIds ids;
  const auto text = read_file(path, kLongest);
  for (std::string_view rest = text ? std::string_view(*text) : ""; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::size_t first_at = line.find(':');
    const std::size_t count_at = first_at == std::string_view::npos ? first_at : line.find(':', first_at + 1);
    if (count_at == std::string_view::npos) continue;
    const auto first = number_of(line.substr(first_at + 1, count_at - first_at - 1));
    const auto count = number_of(line.substr(count_at + 1));
    if (first && count) ids.ranges_.push_back({std::string(line.substr(0, first_at)), *first, *count});
  }
  return ids;
}

std::string SubordinateIds::holder_of(std::uint32_t uid) const {
  const auto range = std::ranges::find_if(
      ranges_, [uid](const Range& one) { return uid >= one.first && uid - one.first < one.count; });
  return range == ranges_.end() ? std::string() : range->holder;
}

}  // namespace landtrace::programs
