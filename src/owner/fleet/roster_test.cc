#include "fleet/roster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

constexpr std::uint64_t kRosterSecond_ns = 1'000'000'000;

Status status_of_host(const std::string& host, std::uint64_t sequence, std::uint64_t recorded) {
  Status status{.host = host, .domain = "system"};
  status.started = 5;
  status.sequence = sequence;
  status.time_ns = sequence * 10 * kRosterSecond_ns;
  status.recorded = recorded;
  return status;
}

// When it was sent, by all clocks.
const Roster::Member* take(Roster& roster, const Status& status) {
  return roster.take(subject_of(status), json_of(status), {status.time_ns, status.time_ns});
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
  soon.time_ns = 30 * kRosterSecond_ns + 1000;
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
  EXPECT_EQ(roster.take("landtrace.system.b.status", json_of(status_of_host("a", 1, 0)), {}), nullptr);
  EXPECT_EQ(roster.take("landtrace.system.c.status", "{", {}), nullptr);
  EXPECT_THAT(roster.refused(), ::testing::ElementsAre("landtrace.system.b.status", "landtrace.system.c.status"));
  EXPECT_TRUE(roster.members().empty());
}

TEST(RosterTest, AnAgentThatBeginsBehindAClockThatWasSetBackCountsWhenTheOneBeforeItIsSilent) {
  Roster roster;
  take(roster, status_of_host("a", 9, 100));
  Status restarted = status_of_host("a", 1, 5);
  restarted.started = 4;
  restarted.interval_ms = 10'000;
  const auto at = [&](std::uint64_t monotonic_ns) {
    return roster.take(subject_of(restarted), json_of(restarted), {restarted.time_ns, monotonic_ns});
  };
  EXPECT_EQ(at(100 * kRosterSecond_ns), nullptr) << "three intervals of 0, but ten seconds at least";
  EXPECT_NE(at(101 * kRosterSecond_ns), nullptr);
  Status other = restarted;
  other.started = 3;
  EXPECT_EQ(roster.take(subject_of(other), json_of(other), {0, 131 * kRosterSecond_ns}), nullptr) << "both go on";
  EXPECT_NE(roster.take(subject_of(other), json_of(other), {0, 132 * kRosterSecond_ns}), nullptr);
}

TEST(RosterTest, WhoIsAwayIsToldByTheClockHere) {
  Roster roster;
  Status status = status_of_host("a", 1, 0);
  status.interval_ms = 10'000;
  status.time_ns = 1'000'000 * kRosterSecond_ns;  // its clock is ahead
  const Roster::Member* const member =
      roster.take(subject_of(status), json_of(status), {kRosterSecond_ns, 100 * kRosterSecond_ns});
  EXPECT_FALSE(member->is_away(130 * kRosterSecond_ns));
  EXPECT_TRUE(member->is_away(131 * kRosterSecond_ns));
  status.time_ns = 0;  // … and set back
  ++status.sequence;
  roster.take(subject_of(status), json_of(status), {1'000'000 * kRosterSecond_ns, 200 * kRosterSecond_ns});
  EXPECT_FALSE(member->is_away(200 * kRosterSecond_ns));
  EXPECT_EQ(member->age_ns(205 * kRosterSecond_ns), 5 * kRosterSecond_ns);
}

TEST(RosterTest, WhatWaitedInTheStreamIsAsOldAsItsHostSays) {
  Roster roster;
  Status status = status_of_host("a", 1, 0);
  status.interval_ms = 10'000;
  const auto say = [&](std::uint64_t wall_ns, std::uint64_t monotonic_ns) {
    return roster.take(subject_of(status), json_of(status), {wall_ns, monotonic_ns});
  };
  EXPECT_EQ(say(status.time_ns + 40 * kRosterSecond_ns, 5 * kRosterSecond_ns)->age_ns(5 * kRosterSecond_ns),
            40 * kRosterSecond_ns);
  roster.begin_again();
  status.sequence = 7;
  EXPECT_EQ(say(status.time_ns + 40 * kRosterSecond_ns, 500 * kRosterSecond_ns)->age_ns(500 * kRosterSecond_ns),
            40 * kRosterSecond_ns);
  roster.begin_again();
  EXPECT_EQ(say(status.time_ns + 50 * kRosterSecond_ns, 510 * kRosterSecond_ns), nullptr) << "the same again";
  ++status.sequence;
  EXPECT_EQ(say(status.time_ns + 50 * kRosterSecond_ns, 511 * kRosterSecond_ns)->age_ns(511 * kRosterSecond_ns), 0u);
}

TEST(RosterTest, WhoIsSilentForLongIsForgotten) {
  Roster roster;
  take(roster, status_of_host("a", 1, 0));
  take(roster, status_of_host("b", 100, 0));
  const std::uint64_t later_ns = Roster::kKept_ns + 500 * kRosterSecond_ns;
  EXPECT_THAT(roster.forget_silent(later_ns), ::testing::ElementsAre(1u));
  ASSERT_EQ(roster.members().size(), 1u);
  Status again = status_of_host("a", 2, 0);
  EXPECT_EQ(roster.take(subject_of(again), json_of(again), {again.time_ns, later_ns})->number, 3u);
}

}  // namespace
}  // namespace landtrace::fleet
