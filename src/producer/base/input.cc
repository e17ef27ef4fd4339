#include "base/input.hpp"

#include <charconv>

namespace landtrace {

std::string_view trimmed(std::string_view bytes) {
  constexpr const char* kSpace = " \t\n\v\f\r";
  const auto first = bytes.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return bytes.substr(first, bytes.find_last_not_of(kSpace) - first + 1);
}

Result<std::uint64_t> number_in(std::string_view bytes, int base) {
  bytes = bytes.substr(0, bytes.find('\0'));
  if (bytes.ends_with('\n')) bytes.remove_suffix(1);
  if (bytes.starts_with('+')) bytes.remove_prefix(1);
  if (base == 0) {
    base = 10;
    if (bytes.size() > 2 && bytes[0] == '0' && (bytes[1] | 0x20) == 'x') {
      base = 16;
      bytes.remove_prefix(2);
    } else if (bytes.size() > 1 && bytes[0] == '0') {
      base = 8;
      bytes.remove_prefix(1);
    }
  }
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), number, base);
  if (error == std::errc::result_out_of_range) return fail(ERANGE, "the number is too large");
  if (error != std::errc{} || end != bytes.data() + bytes.size()) return fail(EINVAL, "a number was expected");
  return number;
}

}  // namespace landtrace
