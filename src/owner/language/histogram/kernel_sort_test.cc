#include "language/histogram/kernel_sort.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

namespace landtrace::language {
namespace {

using testing::ElementsAre;

struct Pair {
  std::uint64_t key;
  std::uint64_t hits;
};

std::vector<std::uint64_t> shown(std::vector<Pair> rows) {
  std::sort(rows.begin(), rows.end(),
            [](const Pair& a, const Pair& b) { return std::memcmp(&a.key, &b.key, sizeof a.key) < 0; });
  sort_as_kernel(rows, [](const Pair& a, const Pair& b) {
    return static_cast<int>(a.hits > b.hits) - static_cast<int>(a.hits < b.hits);
  });
  std::vector<std::uint64_t> keys;
  for (const Pair& row : rows) keys.push_back(row.key);
  return keys;
}

// What a 6.12 kernel printed (conformance transcripts, 40-hist: 000, 016, 017, 018).
TEST(KernelSortTest, EqualRowsComeAsTheKernelShowsThem) {
  EXPECT_THAT(shown({{1, 3}, {2, 2}, {3, 1}, {7, 1}}), ElementsAre(3, 7, 2, 1));
  EXPECT_THAT(shown({{0, 1}, {6, 1}, {7, 2}, {8, 1}, {12, 1}, {33, 1}}), ElementsAre(6, 8, 12, 33, 0, 7));
  EXPECT_THAT(shown({{0, 3}, {100, 1}, {200, 1}, {4000, 1}, {8589934500, 1}}),
              ElementsAre(8589934500, 100, 200, 4000, 0));
  EXPECT_THAT(shown({{0, 5}, {4000, 1}, {8589934000, 1}}), ElementsAre(8589934000, 4000, 0));
}

TEST(KernelSortTest, AnyNumberOfRowsComesOutSorted) {
  std::mt19937 random(1);
  for (std::size_t size = 0; size < 200; ++size) {
    std::vector<unsigned> rows(size);
    for (unsigned& row : rows) row = static_cast<unsigned>(random() % 50);
    std::vector<unsigned> wanted = rows;
    std::sort(wanted.begin(), wanted.end());
    sort_as_kernel(rows, [](unsigned a, unsigned b) { return static_cast<int>(a) - static_cast<int>(b); });
    ASSERT_EQ(rows, wanted) << size;
  }
}

}  // namespace
}  // namespace landtrace::language
