#include "language/filter/cpu_list.hpp"

#include <algorithm>
#include <bit>
#include <charconv>

#include "base/character.hpp"

namespace landtrace::language {
namespace {

bool is_separator(char c) { return is_space(c) || c == ','; }

// Every `group` CPUs from `first` to `last`, the first `used` of them.
struct Region {
  std::uint32_t first;
  std::uint32_t last;
  std::uint32_t used;
  std::uint32_t group;
};

// Reads regions from the front of a text.
class CpuListReader {
 public:
  CpuListReader(std::string_view text, std::uint32_t cpus) : text_(text), last_cpu_(cpus - 1) {}

  // False at the end of the list.
  bool find_region() {
    while (!text_.empty() && is_separator(text_.front())) text_.remove_prefix(1);
    return !text_.empty();
  }

  std::optional<Region> region() {
    Region region{};
    if (take_all()) {
      region.last = last_cpu_;
    } else {
      if (!number(region.first)) return std::nullopt;
      region.last = region.first;
      if (take('-')) {
        if (!number(region.last)) return std::nullopt;
      } else if (!at_end_of_region()) {
        return std::nullopt;
      }
    }
    if (region.last > last_cpu_ || region.first > region.last) return std::nullopt;
    region.used = region.group = region.last + 1;
    if (at_end_of_region()) {
      if (text_.starts_with('\n')) text_ = {};  // the kernel takes a newline for the end here, and nowhere else
      return region;
    }
    if (!take(':') || !number(region.used) || !take('/') || !number(region.group)) return std::nullopt;
    if (region.group == 0 || region.used > region.group) return std::nullopt;
    return region;
  }

 private:
  bool at_end_of_region() const { return text_.empty() || is_separator(text_.front()); }

  bool take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool take_all() {
    constexpr std::string_view kAll = "all";
    const auto same = [](char a, char b) { return (a | 0x20) == b; };
    if (text_.size() < kAll.size() ||
        !std::equal(kAll.begin(), kAll.end(), text_.begin(), [&](char b, char a) { return same(a, b); })) {
      return false;
    }
    text_.remove_prefix(kAll.size());
    return true;
  }

  bool number(std::uint32_t& out) {
    if (take('N')) {
      out = last_cpu_;
      return true;
    }
    const auto [rest, error] = std::from_chars(text_.data(), text_.data() + text_.size(), out);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<std::size_t>(rest - text_.data()));
    return true;
  }

  std::string_view text_;
  std::uint32_t last_cpu_;
};

void add_region(CpuMask& mask, const Region& region) {
  for (std::uint64_t start = region.first; start <= region.last; start += region.group) {
    const auto end = std::min<std::uint64_t>(region.last + 1ull, start + region.used);
    for (auto cpu = start; cpu < end; ++cpu) mask.add(static_cast<std::uint32_t>(cpu));
  }
}

}  // namespace

std::optional<std::uint32_t> CpuMask::only() const {
  std::optional<std::uint32_t> found;
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    const auto byte = std::to_integer<unsigned>(bytes_[i]);
    if (byte == 0) continue;
    if (found || std::popcount(byte) != 1) return std::nullopt;
    found = static_cast<std::uint32_t>(i * 8 + std::countr_zero(byte));
  }
  return found;
}

std::optional<CpuMask> parse_cpu_list(std::string_view text, std::uint32_t cpus) {
  CpuMask mask(cpus);
  CpuListReader reader(text, cpus);
  while (reader.find_region()) {
    const auto region = reader.region();
    if (!region) return std::nullopt;
    add_region(mask, *region);
  }
  return mask;
}

}  // namespace landtrace::language
