#include "ui/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace landtrace::ui {
namespace {

using testing::ElementsAre;

TEST(CommandTest, LatencyOfTwoEvents) {
  const auto line = command_of({{"command", "latency"}, {"from", "a"}, {"to", "--version"}, {"key", "id"}});
  ASSERT_TRUE(line);
  EXPECT_TRUE(line->is_lasting);
  EXPECT_THAT(line->words,
              ElementsAre("latency", "--json", "--interval=0.5", "--from=a", "--to=--version", "--key=id"));
}

TEST(CommandTest, LatencyOfAFunctionByAField) {
  const auto line = command_of({{"command", "latency"}, {"function", "s:f"}, {"from", "x"}, {"by", "$arg1"}});
  ASSERT_TRUE(line);
  EXPECT_THAT(line->words, ElementsAre("latency", "--json", "--interval=0.5", "--function=s:f", "--by=$arg1"));
}

TEST(CommandTest, FunctionsOfAProgram) {
  const auto line = command_of({{"command", "functions"}, {"object", "12"}, {"name", "m*"}});
  ASSERT_TRUE(line);
  EXPECT_FALSE(line->is_lasting);
  EXPECT_THAT(line->words, ElementsAre("functions", "--json", "12", "m*"));
}

TEST(CommandTest, WhatIsMissingOrAnOptionIsRefused) {
  using Arguments = std::map<std::string, std::string>;
  for (const Arguments& arguments :
       {Arguments{}, Arguments{{"command", "record"}}, Arguments{{"command", "latency"}, {"from", "a"}, {"to", "b"}},
        Arguments{{"command", "functions"}, {"object", "12"}},
        Arguments{{"command", "functions"}, {"object", "-h"}, {"name", "a"}},
        Arguments{{"command", "functions"}, {"object", "12"}, {"name", "--refused"}}}) {
    EXPECT_EQ(command_of(arguments).error().code, EINVAL);
  }
}

}  // namespace
}  // namespace landtrace::ui
