// The division of numbers in expressions, as Linux does it. By a divisor that is known when the histogram is made, and
// that is at most 2^20 and no power of two, dividends below 2^20 are multiplied with 2^20 / divisor, and the product is
// rounded up to whole numbers: 10 / 255 is 1, and 10 / 3 is 4. All others are rounded down.
#pragma once

#include <cstdint>

namespace landtrace::hist {

inline constexpr std::uint64_t kDivisionUnit = 1u << 20;

// What a division by that constant multiplies with; 0: it does not.
constexpr std::uint64_t division_factor(std::uint64_t divisor) {
  const bool is_power_of_two = (divisor & (divisor - 1)) == 0;
  return is_power_of_two || divisor > kDivisionUnit ? 0 : kDivisionUnit / divisor;
}

// `factor`: division_factor() of a constant divisor, 0 for any other. By 0: all ones.
constexpr std::uint64_t quotient(std::uint64_t dividend, std::uint64_t divisor, std::uint64_t factor) {
  if (divisor == 0) return ~std::uint64_t{0};
  if (factor == 0 || dividend >= kDivisionUnit) return dividend / divisor;
  return (dividend * factor + kDivisionUnit - 1) / kDivisionUnit;
}

}  // namespace landtrace::hist
