#include "tracefs/trace/numbers.hpp"

#include <charconv>

namespace landtrace::tracefs {

Result<std::uint64_t> decimal_in(std::string_view bytes) {
  if (bytes.ends_with('\n')) bytes.remove_suffix(1);
  if (bytes.starts_with('+')) bytes.remove_prefix(1);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), number);
  if (error == std::errc::result_out_of_range) return fail(ERANGE, "the number is too large");
  if (error != std::errc{} || end != bytes.data() + bytes.size()) return fail(EINVAL, "a decimal number was expected");
  return number;
}

}  // namespace landtrace::tracefs
