#include "ui/fleet_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace landtrace::ui {
namespace {

using testing::ElementsAre;

TEST(FleetCommandTest, OrdersAreWordsOfLandtraceFleet) {
  EXPECT_THAT(fleet_command_of({{"command", "latency"},
                                {"from", "a"},
                                {"to", "b"},
                                {"key", "id"},
                                {"by", ""},
                                {"where", "role=web"},
                                {"for", "10m"},
                                {"interval", "1s"}})
                  ->words,
              ElementsAre("fleet", "latency", "--from=a", "--to=b", "--key=id", "--interval=1s", "--where=role=web",
                          "--for=10m", "--detach"));
  EXPECT_THAT(fleet_command_of({{"command", "hist"}, {"event", "e"}, {"keys", "k"}})->words,
              ElementsAre("fleet", "hist", "e", "--keys=k", "--detach"));
  EXPECT_THAT(fleet_command_of({{"command", "enable"}, {"event", "e"}, {"trigger", "traceoff"}})->words,
              ElementsAre("fleet", "enable", "e", "--trigger=traceoff", "--detach"));
  EXPECT_THAT(fleet_command_of({{"command", "end"}, {"order", "abc"}})->words, ElementsAre("fleet", "end", "abc"));
}

TEST(FleetCommandTest, LinesComeUntilItIsStopped) {
  const auto line = fleet_command_of({{"command", "tail"}, {"event", "e"}, {"filter", "n > 1"}});
  EXPECT_THAT(line->words, ElementsAre("fleet", "tail", "e", "--filter=n > 1"));
  EXPECT_TRUE(line->keeps_lines);
}

TEST(FleetCommandTest, NoValueBecomesAnOption) {
  EXPECT_THAT(fleet_command_of({{"command", "hist"}, {"event", "e"}, {"keys", "--store=/etc"}})->words,
              ElementsAre("fleet", "hist", "e", "--keys=--store=/etc", "--detach"));
  EXPECT_EQ(fleet_command_of({{"command", "hist"}, {"event", "-p"}, {"keys", "k"}}).error().code, EINVAL);
  EXPECT_EQ(fleet_command_of({{"command", "end"}, {"order", "--help"}}).error().code, EINVAL);
}

TEST(FleetCommandTest, WhatIsMissingIsSaid) {
  EXPECT_EQ(fleet_command_of({{"command", "latency"}, {"from", "a"}}).error().message, "to is missing");
  EXPECT_EQ(fleet_command_of({{"command", "enable"}}).error().message, "an event is wanted");
  EXPECT_EQ(fleet_command_of({{"command", "hist"}, {"event", "e"}}).error().message,
            "want fields to count by, or a value with .log2");
  EXPECT_EQ(fleet_command_of({{"command", "up"}}).error().code, EINVAL);
  EXPECT_EQ(fleet_command_of({}).error().code, EINVAL);
}

}  // namespace
}  // namespace landtrace::ui
