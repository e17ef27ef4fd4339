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
  EXPECT_TRUE(news.starts_with(R"("count":3,"lost":0,"events":{"job":[1,2],"done":[2,1]},"programs":[)")) << news;
  EXPECT_NE(news.find(R"([14834,0,"producer",2,[[1,2]]])"), std::string::npos) << news;
  EXPECT_NE(news.find(R"([14835,0,"producer",1,[[2,1]]])"), std::string::npos) << news;
  EXPECT_FALSE(lines.has_news());
}

TEST(LinesTest, NewsAreWhatHasChangedAndAllIsAll) {
  Lines lines;
  lines.add(std::string(kJob) + kDone);
  lines.news(false);
  lines.add(kDone);
  EXPECT_TRUE(lines.news(true).starts_with(R"("count":3,"lost":0,"events":{"job":[1,1],"done":[2,2]},)"));
  EXPECT_TRUE(lines.news(false).starts_with(R"("count":3,"lost":0,"events":{"done":[2,2]},"programs":[[14835,0,)"));
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

TEST(LinesTest, EventsOfTwoSystemsAreTwoAndLinesAreShownWithout) {
  Lines lines;
  lines.add("        producer-1   [000] ..... 7.000001: user_events:job: x\n");
  lines.add("        producer-1   [000] ..... 7.000002: synthetic:job: x\n");
  const std::string news = lines.news(false);
  EXPECT_TRUE(news.starts_with(R"("count":2,"lost":0,"events":{"user_events:job":[1,1],"synthetic:job":[2,1]})"))
      << news;
  EXPECT_NE(news.find("7.000001: job: x\""), std::string::npos) << news;
  EXPECT_NE(news.find("7.000002: job: x\""), std::string::npos) << news;
}

TEST(LinesTest, WhatWasLostIsCounted) {
  Lines lines;
  lines.add("CPU:1 [LOST 123 EVENTS]\nCPU:0 [LOST 4 EVENTS]\nCPU:0 [LOST EVENTS]\n");
  EXPECT_TRUE(lines.news(false).starts_with(R"("count":0,"lost":128,"events":{},)"));
}

TEST(LinesTest, AThreadHasItsProcessAndItsEvents) {
  Lines lines;
  lines.add("          worker-12   (     11) [000] ..... 7.000012: a: x\n");
  lines.add("          worker-12   (     11) [000] ..... 7.000013: b: x\n");
  lines.add("          worker-12   (     11) [000] ..... 7.000014: a: x\n");
  lines.add("            main-11   (     11) [000] ..... 7.000015: a: x\n");
  lines.add("             old-10   (     10) [000] ..... 7.000015: a: x\n");
  EXPECT_NE(lines.news(false).find(R"([12,11,"worker",3,[[1,2],[2,1]]])"), std::string::npos);
  EXPECT_EQ(lines.name_of(12).comm, "worker");
  EXPECT_EQ(lines.name_of(12).tgid, 11);
  EXPECT_EQ(lines.name_of(13).comm, "");
}

TEST(LinesTest, OfTooManyThreadsTheOneThatWasSilentForLongestIsForgotten) {
  Lines lines;
  const auto add = [&](int tid, int time) {
    lines.add("          worker-" + std::to_string(tid) + "   [000] ..... " + std::to_string(time) + ".0: a: x\n");
  };
  for (int i = 0; i < 4096; ++i) add(10'000 + i, 100 + i);
  add(10'000, 5000);
  add(1, 5001);
  const std::string news = lines.news(true);
  EXPECT_NE(news.find("[10000,0,"), std::string::npos);
  EXPECT_EQ(news.find("[10001,0,"), std::string::npos);
  EXPECT_NE(news.find("[1,0,"), std::string::npos);
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
