#include "language/probe/numbers.hpp"

#include <cerrno>
#include <charconv>

namespace landtrace::language {
namespace {

int base_of(std::string_view& digits) {
  if (!digits.starts_with('0')) return 10;
  if (digits.size() > 2 && (digits[1] | 0x20) == 'x') {
    digits.remove_prefix(2);
    return 16;
  }
  return 8;
}

}  // namespace

tl::expected<std::uint64_t, int> read_unsigned(std::string_view text, int base) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (base == 0) base = base_of(text);
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error == std::errc::result_out_of_range) return tl::unexpected<int>(ERANGE);
  if (error != std::errc() || rest != text.data() + text.size()) return tl::unexpected<int>(EINVAL);
  return value;
}

tl::expected<std::int64_t, int> read_signed(std::string_view text) {
  constexpr std::uint64_t kMost = 1ull << 63;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (negative && text.starts_with('+')) return tl::unexpected<int>(EINVAL);
  const auto value = read_unsigned(text);
  if (!value) return tl::unexpected<int>(value.error());
  if (*value > (negative ? kMost : kMost - 1)) return tl::unexpected<int>(ERANGE);
  return static_cast<std::int64_t>(negative ? ~*value + 1 : *value);
}

std::uint64_t take_digits(std::string_view& text) {
  int base = 10;
  std::string_view rest = text;
  if (rest.starts_with('0')) base = base_of(rest);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
  if (error == std::errc::invalid_argument) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc() ? value : ~0ull;
}

}  // namespace landtrace::language
