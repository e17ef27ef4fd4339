#include "base/offset_heap.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace landtrace {
namespace {

TEST(OffsetHeapTest, AlignsAndNeverHandsOutZero) {
  OffsetHeap heap(0, 1 << 16);
  EXPECT_EQ(*heap.allocate(10, 64), 64u);
  EXPECT_NE(*heap.allocate(1, 1), 0u);
}

TEST(OffsetHeapTest, SaysWhenFullAndServesAgainAfterFree) {
  OffsetHeap heap(4096, 8192);
  auto all = heap.allocate(4096, 4096);
  ASSERT_TRUE(all);
  EXPECT_EQ(heap.allocate(1, 1).error().code, ENOMEM);
  heap.free(*all);
  EXPECT_TRUE(heap.allocate(4096, 4096));
}

TEST(OffsetHeapTest, TakesTheSmallestRangeThatItFitsIn) {
  OffsetHeap heap(4096, 8192);
  std::vector<std::uint64_t> ranges;
  for (const std::uint64_t size : {256, 8, 64, 8, 128, 8}) ranges.push_back(*heap.allocate(size, 8));
  for (const std::size_t hole : {0, 2, 4}) heap.free(ranges[hole]);
  EXPECT_EQ(*heap.allocate(100, 8), ranges[4]);
  EXPECT_EQ(*heap.allocate(64, 8), ranges[2]);
  EXPECT_EQ(*heap.allocate(64, 8), ranges[0]);
  EXPECT_EQ(heap.allocate(~0ull, 8).error().code, ENOMEM);
}

TEST(OffsetHeapTest, FindsTheOneRangeThatIsAlignedAndJustLargeEnough) {
  OffsetHeap heap(4096, 4096 + 3 * 64);
  const auto first = *heap.allocate(32, 1), aligned = *heap.allocate(64, 64), rest = *heap.allocate(64, 1);
  ASSERT_EQ(aligned, 4096u + 64);
  while (heap.allocate(1, 1)) continue;
  heap.free(aligned);
  EXPECT_EQ(*heap.allocate(64, 64), aligned);
  heap.free(rest);
  EXPECT_EQ(heap.allocate(64, 64).has_value(), rest % 64 == 0);
  heap.free(first);
}

TEST(OffsetHeapTest, OddSizesLeaveNoGapsBetweenThem) {
  OffsetHeap heap(3, 4099);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(heap.allocate(1 + i * 3, 8));
  EXPECT_EQ(heap.free_ranges().size(), 1u);
  EXPECT_EQ(heap.bytes_in_use() % OffsetHeap::kUnit, 0u);
  EXPECT_EQ(heap.bytes_in_use() + heap.free_ranges().begin()->second, 4096u - 8);
}

TEST(OffsetHeapTest, WhatWasNotHandedOutIsNotTakenBack) {
  OffsetHeap heap(0, 4096);
  const std::uint64_t range = *heap.allocate(64, 8);
  for (const std::uint64_t other : {range + 1, range + 8, std::uint64_t{0}, std::uint64_t{1} << 40}) heap.free(other);
  EXPECT_EQ(heap.bytes_in_use(), 64u);
  heap.free(range);
  heap.free(range);
  EXPECT_EQ(heap.bytes_in_use(), 0u);
}

TEST(OffsetHeapTest, RandomUseNeverOverlapsAndCoalescesToOneRange) {
  OffsetHeap heap(4096, 1 << 20);
  std::mt19937 random(7);
  std::map<std::uint64_t, std::uint64_t> live;
  for (int step = 0; step < 20000; ++step) {
    if (live.size() < 200 && random() % 2 == 0) {
      const std::uint64_t size = 1 + random() % 5000;
      auto offset = heap.allocate(size, 8);
      if (!offset) continue;
      const auto next = live.lower_bound(*offset);
      if (next != live.end()) {
        ASSERT_LE(*offset + size, next->first);
      }
      if (next != live.begin()) {
        ASSERT_LE(std::prev(next)->first + std::prev(next)->second, *offset);
      }
      live.emplace(*offset, size);
    } else if (!live.empty()) {
      auto victim = std::next(live.begin(), random() % live.size());
      heap.free(victim->first);
      live.erase(victim);
    }
  }
  for (const auto& [offset, size] : live) heap.free(offset);
  EXPECT_EQ(heap.bytes_in_use(), 0u);
  EXPECT_TRUE(heap.allocate((1 << 20) - 4096, 4096));
}

}  // namespace
}  // namespace landtrace
