#include "language/filter/number.hpp"

#include <charconv>

namespace landtrace::language {
namespace {

bool is_hexadecimal(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
  return text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == 'x' &&
         kDigits.find(text[2]) != std::string_view::npos;
}

}  // namespace

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  int base = text.starts_with('0') ? 8 : 10;
  if (is_hexadecimal(text)) {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_signed(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  const auto magnitude = parse_unsigned(is_negative ? text.substr(1) : text);
  if (!magnitude) return std::nullopt;
  constexpr std::uint64_t kMost = INT64_MAX;
  if (*magnitude > kMost + (is_negative ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(is_negative ? 0 - *magnitude : *magnitude);
}

}  // namespace landtrace::language
