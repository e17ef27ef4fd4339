#include "language/histogram/ranked.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace landtrace::language {
namespace {

using Pairs = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

Pairs pairs_of(const std::vector<Ranked>& rows) {
  Pairs pairs;
  for (const Ranked& row : rows) pairs.emplace_back(row.rank, row.row);
  return pairs;
}

// Ranks of few or many digits, some of them the same in all rows.
TEST(RankedTest, AnyNumberOfRowsIsInOrderAndEqualOnesStayAsTheyWere) {
  std::mt19937_64 random(1);
  const std::uint64_t masks[] = {0, 1, 0xff, 0xff00, 0x3ull << 62, 0xff0000ff0000ff00, ~0ull};
  for (const std::size_t size : {0, 1, 2, 100, 511, 512, 513, 20'000}) {
    for (const std::uint64_t mask : masks) {
      std::vector<Ranked> rows;
      for (std::uint32_t i = 0; i < size; ++i) rows.push_back({(random() & mask) | 0x0000'0700'0000'0000, i});
      auto wanted = pairs_of(rows);
      std::stable_sort(wanted.begin(), wanted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      sort_by_rank(rows);
      ASSERT_EQ(pairs_of(rows), wanted) << size << " rows, " << mask;
    }
  }
}

}  // namespace
}  // namespace landtrace::language
