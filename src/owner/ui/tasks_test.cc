#include "ui/tasks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <csignal>
#include <cstdlib>

namespace landtrace::ui {
namespace {

using testing::HasSubstr;

class TasksTest : public testing::Test {
 protected:
  // Until the news says so.
  std::string news_with(const std::string& wanted) {
    for (;;) {
      if (tasks_.look()) {
        const std::string news = tasks_.news(true);
        if (news.find(wanted) != std::string::npos) return news;
      }
      ::poll(nullptr, 0, 5);
    }
  }

  Tasks tasks_{"/bin/sh", "/the/socket"};  // which takes the words behind its name
};

TEST_F(TasksTest, WhatACommandPrintsIsToldWhenItHasEnded) {
  const auto number = tasks_.start({{"-c", "echo \"$LANDTRACE_SOCKET\"; echo wrong >&2; exit 3"}});
  ASSERT_TRUE(number);
  EXPECT_EQ(news_with("\"isRunning\":false"),
            R"([{"number":1,"words":["-c","echo \"$LANDTRACE_SOCKET\"; echo wrong >&2; exit 3"],"isRunning":false,)"
            R"("isTooLong":false,"status":3,"out":"/the/socket\n","err":"wrong\n"}])");
  EXPECT_NE(tasks_.news(false), "[]");
  EXPECT_EQ(tasks_.news(false), "[]");
  EXPECT_FALSE(tasks_.look());
}

TEST_F(TasksTest, OfOneThatLastsTheLastWholeLineIsToldUntilItIsStopped) {
  ASSERT_TRUE(tasks_.start({{"-c", "echo 1; echo 2; printf 3; read x; exec sleep 1000"}, true}));
  EXPECT_THAT(news_with("\"out\":\"2\""), HasSubstr("\"isRunning\":true"));
  ASSERT_TRUE(tasks_.stop(1));
  EXPECT_THAT(news_with("\"isRunning\":false"), HasSubstr("\"status\":130,\"out\":\"2\""));
  EXPECT_EQ(tasks_.stop(1).error().code, ESRCH);
  EXPECT_EQ(tasks_.stop(2).error().code, ESRCH);
}

TEST_F(TasksTest, OfOneThatKeepsLinesEachIsToldOnceAndTheLastToWhoComesLater) {
  const std::string script = "i=0; while [ $i -lt 1000 ]; do echo line$i; i=$((i+1)); done; read x; exec sleep 1000";
  ASSERT_TRUE(tasks_.start({.words = {"-c", script}, .keeps_lines = true}));
  EXPECT_THAT(news_with("\"line999\"]"),
              testing::AllOf(HasSubstr("\"lines\":[\"line600\","), HasSubstr("\"out\":\"\"")));
  EXPECT_THAT(tasks_.news(false), HasSubstr("\"line999\""));
  EXPECT_EQ(tasks_.news(false), "[]");
  EXPECT_THAT(tasks_.news(true), HasSubstr("\"unkept\":600,"));
}

TEST_F(TasksTest, LinesHaveNumbersByWhichThoseOfAGreetingAreKnown) {
  const std::string script = "i=0; while [ $i -lt 450 ]; do echo line$i; i=$((i+1)); done; read x; exec sleep 1000";
  ASSERT_TRUE(tasks_.start({.words = {"-c", script}, .keeps_lines = true}));
  EXPECT_THAT(news_with("\"line449\"]"), HasSubstr("\"firstLine\":50,\"lines\":[\"line50\","));
  EXPECT_THAT(tasks_.news(false), HasSubstr("\"firstLine\":50,\"lines\":[\"line50\",")) << "the first news to others";
  EXPECT_THAT(tasks_.news(true), HasSubstr("\"firstLine\":50,\"lines\":[\"line50\","));
}

// More than a pipe has room for.
TEST(TasksEndTest, WhatPrintsMuchAtItsEndIsRead) {
  Tasks tasks("/bin/sh", "", std::chrono::hours(1));
  const std::string script =
      "trap 'head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; exit' INT; echo begun; "
      "while :; do sleep 0.01; done";
  ASSERT_TRUE(tasks.start({{"-c", script}, true}));
  while (!tasks.look() || tasks.news(true).find("\"begun\"") == std::string::npos) ::poll(nullptr, 0, 5);
}

TEST(TasksEndTest, WhatDoesNotEndIsKilled) {
  pid_t pid = 0;
  {
    Tasks tasks("/bin/sh", "", std::chrono::milliseconds(50));
    ASSERT_TRUE(tasks.start({{"-c", "trap '' INT; echo $$; exec sleep 1000"}, true}));
    while (pid == 0) {
      tasks.look();
      const std::string news = tasks.news(true);
      const std::string before = "\"out\":\"";
      pid = std::atoi(news.c_str() + news.find(before) + before.size());
    }
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST_F(TasksTest, OneThatPrintsWithoutEndIsEnded) {
  ASSERT_TRUE(tasks_.start({{"-c", "exec yes"}}));
  EXPECT_THAT(news_with("\"isRunning\":false"), HasSubstr("\"isTooLong\":true"));
  EXPECT_LT(tasks_.news(true).size(), 4u << 20);
}

TEST_F(TasksTest, SoManyAndNoMoreRunAtATime) {
  for (unsigned i = 1; i <= 8; ++i) EXPECT_EQ(tasks_.start({{"-c", "exec sleep 1000"}, true}), i);
  EXPECT_EQ(tasks_.start({{"-c", "exec sleep 1000"}, true}).error().code, EAGAIN);
  ASSERT_TRUE(tasks_.stop(3));
  news_with("\"status\":130");
  EXPECT_EQ(tasks_.start({{"-c", "exec sleep 1000"}, true}), 9u);
}

TEST_F(TasksTest, AProgramThatIsNotThereIsSaid) {
  Tasks tasks("/nowhere/landtrace", "/s");
  const auto started = tasks.start({{"functions"}});
  EXPECT_EQ(started.error().code, ENOENT);
  EXPECT_THAT(started.error().message, HasSubstr("/nowhere/landtrace"));
  EXPECT_TRUE(tasks.is_empty());
}

}  // namespace
}  // namespace landtrace::ui
