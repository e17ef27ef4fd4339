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
