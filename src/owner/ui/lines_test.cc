#include "ui/lines.hpp"

#include <gtest/gtest.h>

namespace landtrace::ui {
namespace {

constexpr const char* kJob = "        producer-14834   [000] ..... 65734.724624: job: source=0x0 (0)\n";
constexpr const char* kDone = "        producer-14835   [001] ..... 65734.724625: done: x\n";

TEST(LinesTest, EventsAndProgramsAreCounted) {
  Lines lines;
  EXPECT_FALSE(lines.has_news());
  lines.add(std::string(kJob) + kDone + kJob);
  EXPECT_TRUE(lines.has_news());
  const std::string news = lines.news(false);
  EXPECT_TRUE(news.starts_with(R"("count":3,"lost":0,"events":{"done":1,"job":2},)"
                               R"("programs":[[14834,"producer",2],[14835,"producer",1]],"lines":["   )"))
      << news;
  EXPECT_FALSE(lines.has_news());
}

TEST(LinesTest, NewsAreWhatHasChangedAndAllIsAll) {
  Lines lines;
  lines.add(std::string(kJob) + kDone);
  lines.news(false);
  lines.add(kDone);
  EXPECT_TRUE(lines.news(true).starts_with(R"("count":3,"lost":0,"events":{"done":2,"job":1},)"));
  EXPECT_TRUE(lines.news(false).starts_with(R"("count":3,"lost":0,"events":{"done":2},"programs":[[14835,)"));
  EXPECT_EQ(lines.news(false), R"("count":3,"lost":0,"events":{},"programs":[],"lines":[])");
}

TEST(LinesTest, ALineMayComeInPieces) {
  Lines lines;
  const std::string line = kJob;
  lines.add(line.substr(0, 30));
  EXPECT_FALSE(lines.has_news());
  lines.add(line.substr(30));
  EXPECT_TRUE(lines.news(false).starts_with(R"("count":1,)"));
}

TEST(LinesTest, WhatWasLostIsCounted) {
  Lines lines;
  lines.add("CPU:1 [LOST 123 EVENTS]\nCPU:0 [LOST 4 EVENTS]\nCPU:0 [LOST EVENTS]\n");
  EXPECT_TRUE(lines.news(false).starts_with(R"("count":0,"lost":128,"events":{},)"));
}

TEST(LinesTest, ANameThatLooksLikeALineMisleadsNobody) {
  Lines lines;
  lines.add(" a-1 [0] . 1: x:-14834   [000] ..... 65734.724624: job: text: more\n");
  const std::string news = lines.news(false);
  EXPECT_NE(news.find(R"("events":{"job":1},"programs":[[14834,"a-1 [0] . 1: x:",1]])"), std::string::npos) << news;
}

TEST(LinesTest, OnlyTheLastLinesAreKept) {
  Lines lines;
  for (int i = 0; i < 1000; ++i) lines.add("line " + std::to_string(i) + "\n");
  const std::string news = lines.news(false);
  EXPECT_EQ(news.find("line 939\""), std::string::npos);
  EXPECT_NE(news.find("line 940\""), std::string::npos);
  const std::string all = lines.news(true);
  EXPECT_EQ(all.find("line 799\""), std::string::npos);
  EXPECT_NE(all.find("line 800\""), std::string::npos);
}

TEST(LinesTest, TextIsJson) {
  Lines lines;
  lines.add("\"</script>\x1b\n");
  EXPECT_NE(lines.news(false).find(R"("\"</script>\u001b")"), std::string::npos);
}

}  // namespace
}  // namespace landtrace::ui
