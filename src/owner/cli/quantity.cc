#include "cli/quantity.hpp"

#include <fmt/format.h>

#include <charconv>

#include "ring/layout.hpp"

namespace landtrace::cli {
namespace {

// All of `text` as a decimal number.
bool parse_number(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

int shift_of(char suffix) {
  switch (suffix) {
    case 'k':
    case 'K':
      return 10;
    case 'm':
    case 'M':
      return 20;
    case 'g':
    case 'G':
      return 30;
    default:
      return 0;
  }
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  const std::string all(text);
  const int shift = text.empty() ? 0 : shift_of(text.back());
  if (shift > 0) text.remove_suffix(1);
  std::uint64_t value = 0;
  if (!parse_number(text, value) || value == 0 || value > (~0ull >> shift)) {
    return fail(EINVAL, fmt::format("'{}' is no size; want a number with K, M or G, such as 4M", all));
  }
  return value << shift;
}

Result<std::uint64_t> parse_seconds(std::string_view text) {
  constexpr std::size_t kDecimals = 9;
  constexpr std::uint64_t kSecond_ns = 1'000'000'000;
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::string decimals = point == std::string_view::npos ? "0" : std::string(text.substr(point + 1));
  const bool fits = decimals.size() <= kDecimals;
  if (fits) decimals.append(kDecimals - decimals.size(), '0');
  std::uint64_t seconds = 0;
  std::uint64_t ns = 0;
  if (!fits || text.ends_with('.') || !parse_number(whole, seconds) || !parse_number(decimals, ns) ||
      seconds > ~0ull / kSecond_ns - 1) {
    return fail(EINVAL, fmt::format("'{}' is no time; want seconds, such as 12.345678", text));
  }
  return seconds * kSecond_ns + ns;
}

Result<std::uint64_t> parse_buffer_size(const std::string& text) {
  const auto size = parse_size(text);
  if (!size) return fail(EINVAL, "--buffer-size: " + size.error().message);
  if (*size > 1ull << ring::kMaxSizeLog2) return fail(EINVAL, "--buffer-size: the limit is 16G");
  return size;
}

Result<std::uint64_t> parse_time_option(const char* option, const std::string& text) {
  const auto ns = parse_seconds(text);
  if (!ns) return fail(EINVAL, fmt::format("{}: {}", option, ns.error().message));
  if (*ns == 0) return fail(EINVAL, fmt::format("{}: want more than 0 seconds", option));
  return ns;
}

std::string size_text(std::uint64_t bytes) {
  constexpr double kStep = 1024;
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / kStep;
  std::size_t unit = 0;
  while (value >= kStep && unit + 1 < std::size(kUnits)) {
    value /= kStep;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string count_text(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

}  // namespace landtrace::cli
