#include "plan/section.hpp"

#include <gtest/gtest.h>

#include "plan/test_domain.hpp"

namespace landtrace::plan {
namespace {

std::uint64_t depth_of(const ThreadSlot& slot) { return slot.section & kDepthMask; }
std::uint64_t number_of(const ThreadSlot& slot) { return slot.section / (kDepthMask + 1); }

TEST(SectionTest, AThreadIsInsideUntilTheSectionEnds) {
  ThreadSlot slot{};
  {
    const Section section(slot);
    EXPECT_EQ(depth_of(slot), 1u);
    EXPECT_EQ(number_of(slot), 0u);
  }
  EXPECT_EQ(depth_of(slot), 0u);
}

TEST(SectionTest, TheNumberGrowsWithEachOutermostSection) {
  ThreadSlot slot{};
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(number_of(slot), i);
    const Section section(slot);
  }
  EXPECT_EQ(number_of(slot), 3u);
}

// The owner waits for the interrupted section: it must not take the handler's end for that one's.
TEST(SectionTest, AnInnerSectionLeavesTheOuterOneAsItWas) {
  ThreadSlot slot{};
  const Section outer(slot);
  const std::uint64_t before = slot.section;
  for (int i = 0; i < 3; ++i) {
    const Section inner(slot);
    EXPECT_EQ(slot.section, before + 1);
    const Section innermost(slot);
    EXPECT_EQ(slot.section, before + 2);
  }
  EXPECT_EQ(slot.section, before);
}

TEST(SectionTest, AnEmitIsASectionWhoeverListens) {
  TestDomain domain;
  ThreadSlot& slot = domain.data().threads[0];
  EXPECT_FALSE(domain.happens(kFirstEventSlot));
  EXPECT_EQ(number_of(slot), 1u);
  EXPECT_EQ(depth_of(slot), 0u);
  domain.publish(kFirstEventSlot, {domain.record()});
  EXPECT_TRUE(domain.happens(kFirstEventSlot));
  EXPECT_EQ(number_of(slot), 2u);
  EXPECT_EQ(depth_of(slot), 0u);
}

}  // namespace
}  // namespace landtrace::plan
