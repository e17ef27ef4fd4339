#include "language/histogram/ranked.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/large_pages.hpp"

namespace landtrace::language {
namespace {

constexpr unsigned kDigitBits = 8;
constexpr unsigned kDigits = 64 / kDigitBits;
constexpr std::size_t kDigitValues = 1u << kDigitBits;
// Below that comparing is faster.
constexpr std::size_t kFewRows = 512;

using Counts = std::array<std::array<std::uint32_t, kDigitValues>, kDigits>;

std::size_t digit_of(std::uint64_t rank, unsigned digit) { return rank >> (digit * kDigitBits) & (kDigitValues - 1); }

Counts count_digits(const std::vector<Ranked>& rows) {
  Counts counts{};
  for (const Ranked& row : rows) {
    for (unsigned digit = 0; digit < kDigits; ++digit) ++counts[digit][digit_of(row.rank, digit)];
  }
  return counts;
}

}  // namespace

// By one digit after the other, the lowest first. Those that are the same in all ranks are passed over; most are.
void sort_by_rank(std::vector<Ranked>& rows) {
  if (rows.size() < kFewRows) {
    std::stable_sort(rows.begin(), rows.end(), [](const Ranked& a, const Ranked& b) { return a.rank < b.rank; });
    return;
  }
  Counts counts = count_digits(rows);
  std::vector<Ranked> other;
  for (unsigned digit = 0; digit < kDigits; ++digit) {
    auto& places = counts[digit];
    if (places[digit_of(rows.front().rank, digit)] == rows.size()) continue;
    reserve_large(other, rows.size());
    other.resize(rows.size());
    std::uint32_t place = 0;
    for (std::uint32_t& count : places) place += std::exchange(count, place);
    for (const Ranked& row : rows) other[places[digit_of(row.rank, digit)]++] = row;
    rows.swap(other);
  }
}

}  // namespace landtrace::language
