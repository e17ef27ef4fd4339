#include "fleet/roster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

constexpr std::uint64_t kSecond_ns = 1'000'000'000;

Status status_of_host(const std::string& host, std::uint64_t sequence, std::uint64_t recorded) {
  Status status{.host = host, .domain = "system"};
  status.started = 5;
  status.sequence = sequence;
  status.time_ns = sequence * 10 * kSecond_ns;
  status.recorded = recorded;
  return status;
}

const Roster::Member* take(Roster& roster, const Status& status) {
  return roster.take(subject_of(status), json_of(status));
}

TEST(RosterTest, TheNewestStatusCounts) {
  Roster roster;
  EXPECT_EQ(take(roster, status_of_host("a", 2, 0))->number, 1u);
  EXPECT_EQ(take(roster, status_of_host("b", 1, 0))->number, 2u);
  EXPECT_EQ(take(roster, status_of_host("a", 1, 0)), nullptr);
  EXPECT_EQ(take(roster, status_of_host("a", 2, 0)), nullptr);
  EXPECT_EQ(take(roster, status_of_host("a", 3, 0))->number, 1u);
  EXPECT_EQ(roster.members().size(), 2u);
}

TEST(RosterTest, RatesAreBetweenTheLastTwo) {
  Roster roster;
  EXPECT_EQ(take(roster, status_of_host("a", 1, 100))->recorded_rate, 0);
  EXPECT_DOUBLE_EQ(take(roster, status_of_host("a", 2, 600))->recorded_rate, 50);
  EXPECT_EQ(take(roster, status_of_host("a", 3, 10))->recorded_rate, 0);
  Status soon = status_of_host("a", 4, 1'000'000);
  soon.time_ns = 30 * kSecond_ns + 1000;
  EXPECT_EQ(take(roster, soon)->recorded_rate, 0);
}

TEST(RosterTest, AnotherAgentBeginsAnew) {
  Roster roster;
  take(roster, status_of_host("a", 9, 100));
  Status restarted = status_of_host("a", 1, 5000);
  restarted.started = 6;
  EXPECT_EQ(take(roster, restarted)->recorded_rate, 0);
}

TEST(RosterTest, WhatSpeaksForAnotherIsNamed) {
  Roster roster;
  EXPECT_EQ(roster.take("landtrace.system.b.status", json_of(status_of_host("a", 1, 0))), nullptr);
  EXPECT_EQ(roster.take("landtrace.system.c.status", "{"), nullptr);
  EXPECT_THAT(roster.refused(), ::testing::ElementsAre("landtrace.system.b.status", "landtrace.system.c.status"));
  EXPECT_TRUE(roster.members().empty());
}

}  // namespace
}  // namespace landtrace::fleet
