#include "domain/slot_index.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace landtrace::domain {
namespace {

std::uint32_t find(const SlotIndex& index, std::uint32_t hash, std::uint32_t slot) {
  return index.find(hash, [&](std::uint32_t found) { return found == slot; });
}

TEST(SlotIndexTest, AnEmptyOneHasNothing) {
  SlotIndex index;
  EXPECT_EQ(index.find(1, [](std::uint32_t) { return true; }), SlotIndex::kNone);
  index.erase(1, 1);
}

TEST(SlotIndexTest, SlotsOfOneHashAreToldApartByTheCaller) {
  SlotIndex index;
  index.insert(7, 1);
  index.insert(7, 2);
  index.insert(23, 3);
  EXPECT_EQ(find(index, 7, 2), 2u);
  EXPECT_EQ(find(index, 7, 3), SlotIndex::kNone);
  EXPECT_EQ(index.find(7, [](std::uint32_t) { return true; }), 1u);
}

// Few homes, so that cells stand far from theirs, and also beyond the end of the table.
TEST(SlotIndexTest, RandomUseFindsWhatIsThereAndNothingElse) {
  std::mt19937 random(11);
  const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  for (const std::uint32_t homes : {1u, 3u, 20u, ~0u}) {
    SlotIndex index;
    std::map<std::uint32_t, std::uint32_t> known;  // slot to hash
    for (int step = 0; step < 20'000; ++step) {
      const std::uint32_t slot = below(300);
      if (const auto found = known.find(slot); found != known.end()) {
        ASSERT_EQ(find(index, found->second, slot), slot);
        index.erase(found->second, slot);
        ASSERT_EQ(find(index, found->second, slot), SlotIndex::kNone);
        known.erase(found);
      } else {
        const std::uint32_t hash = 13 + below(homes);
        index.erase(hash, slot);
        index.insert(hash, slot);
        known.emplace(slot, hash);
      }
    }
    for (const auto& [slot, hash] : known) ASSERT_EQ(find(index, hash, slot), slot);
  }
}

}  // namespace
}  // namespace landtrace::domain
