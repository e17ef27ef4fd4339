#include "ui/recent.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace landtrace::ui {
namespace {

using testing::ElementsAre;

TEST(RecentTest, EventsAreFoundByTimeAndHaveTheirLines) {
  Recent recent;
  for (std::uint64_t i = 0; i < 10; ++i) recent.add("line " + std::to_string(i), 100 + i * 10, 7, 1);
  EXPECT_EQ(recent.find(0), 0u);
  EXPECT_EQ(recent.find(120), 2u);
  EXPECT_EQ(recent.find(121), 3u);
  EXPECT_EQ(recent.find(1000), 10u);
  EXPECT_EQ(recent.text(recent.events()[3]), "line 3");
}

TEST(RecentTest, ALittleDisorderKeepsTimesInOrder) {
  Recent recent;
  recent.add("b", 20, 1, 0);
  recent.add("a", 10, 2, 0);
  EXPECT_EQ(recent.events()[1].time_us, 20u);
  recent.add_lost("CPU:0 [LOST 5 EVENTS]", 5);
  EXPECT_EQ(recent.events()[2].time_us, 20u);
  EXPECT_EQ(recent.events()[2].lost, 5u);
}

TEST(RecentTest, TheNewestEventsAreKept) {
  Recent recent;
  for (std::uint64_t i = 0; i < Recent::kMostEvents + 5; ++i) recent.add("x", i, 1, 0);
  EXPECT_EQ(recent.events().size(), Recent::kMostEvents);
  EXPECT_EQ(recent.events().front().time_us, 5u);
}

TEST(RecentTest, TextIsBoundedAndEventsGoWithTheirs) {
  Recent recent;
  const std::string line(1000, 'x');
  const std::size_t lines = Recent::kMostChunks * Recent::kChunk / line.size() + 1000;
  for (std::size_t i = 0; i < lines; ++i) recent.add(line, i, 1, 0);
  EXPECT_LE(recent.all().size(), Recent::kMostChunks * Recent::kChunk);
  EXPECT_GT(recent.all().size(), Recent::kMostChunks * Recent::kChunk * 9 / 10);
  EXPECT_GT(recent.events().front().time_us, 0u);
  EXPECT_EQ(recent.text(recent.events().front()), line);
  EXPECT_EQ(recent.text(recent.events().back()), line);
  EXPECT_EQ(recent.all().size(), recent.events().size() * (line.size() + 1));
}

TEST(RecentTest, ALineThatIsLongerThanAChunkIsKept) {
  Recent recent;
  recent.add("before", 1, 1, 0);
  const std::string line(Recent::kChunk * 2, 'y');
  recent.add(line, 2, 1, 0);
  recent.add("behind", 3, 1, 0);
  EXPECT_EQ(recent.text(recent.events()[1]), line);
  EXPECT_EQ(recent.all(), "before\n" + line + "\nbehind\n");
}

TEST(RecentTest, LastLinesAreTheNewestInTheirOrder) {
  Recent recent;
  EXPECT_TRUE(recent.last_lines(5).empty());
  recent.add_text("a");
  recent.add_text("");
  recent.add_text(std::string(Recent::kChunk, 'b'));
  recent.add_text("c");
  EXPECT_THAT(recent.last_lines(1), ElementsAre("c"));
  EXPECT_THAT(recent.last_lines(9), ElementsAre("a", "", std::string(Recent::kChunk, 'b'), "c"));
}

}  // namespace
}  // namespace landtrace::ui
