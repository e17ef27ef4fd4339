#include "fleet/spreads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

using ipc::KeyKind;
using ::testing::ElementsAre;

Frame frame_of(const std::string& host, const std::string& labels = "") {
  Frame frame;
  frame.host = host;
  frame.boot = "b";
  frame.domain = "system";
  frame.labels = labels;
  frame.order = "o";
  frame.event = "u:e";
  frame.generation = 1;
  frame.sequence = 1;
  frame.table.keys = {{KeyKind::kText, "route", 0}, {KeyKind::kSteps, "took_ns.log2=32", 32, 0}};
  frame.table.values = {{"took_ns"}};
  return frame;
}

void count(Frame& frame, const std::string& route, std::uint64_t value, std::uint64_t hits) {
  frame.table.rows.push_back({{{0, route, {}}, {value, "", {}}}, hits, {value * hits}});
  frame.table.hits += hits;
}

void put(Sums& sums, const Frame& frame) { ASSERT_TRUE(sums.add(subject_of(frame), encode(frame))); }

Sums two_hosts() {
  Sums sums;
  Frame quick = frame_of("a", "role=web");
  count(quick, "/", 10, 99);
  count(quick, "/cart", 20, 1);
  quick.unpaired = {1, 2, 3};
  put(sums, quick);
  Frame slow = frame_of("b", "role=web");
  count(slow, "/", 40, 100);
  put(sums, slow);
  return sums;
}

TEST(SpreadsTest, TheSlowestHostIsTheFirst) {
  const auto spreads = spreads_of(two_hosts(), "o", {"host"});
  ASSERT_EQ(spreads.size(), 1u);
  const Spreads& one = spreads[0];
  EXPECT_EQ(one.event, "u:e");
  EXPECT_THAT(one.keys, ElementsAre("route"));
  EXPECT_EQ(one.value, "took_ns");
  EXPECT_TRUE(one.is_time);
  ASSERT_EQ(one.groups.size(), 2u);
  EXPECT_THAT(one.groups[0].key, ElementsAre("b"));
  EXPECT_EQ(one.groups[0].count, 100u);
  EXPECT_DOUBLE_EQ(one.groups[0].spread.percentile(0.5), 40);
  EXPECT_EQ(one.groups[1].count, 100u);
  EXPECT_EQ(one.all.count, 200u);
  EXPECT_EQ(one.hosts, 2u);
  EXPECT_EQ(one.unpaired, (Unpaired{1, 2, 3}));
}

TEST(SpreadsTest, GroupsAreByLabelsAndKeys) {
  const auto spreads = spreads_of(two_hosts(), "o", {"role", "route"});
  ASSERT_EQ(spreads[0].groups.size(), 2u);
  EXPECT_THAT(spreads[0].groups[0].key, ElementsAre("web", "/"));
  EXPECT_EQ(spreads[0].groups[0].count, 199u);
  EXPECT_THAT(spreads[0].groups[1].key, ElementsAre("web", "/cart"));
  EXPECT_THAT(spreads_of(two_hosts(), "o", {"nix"})[0].groups[0].key, ElementsAre(""));
}

TEST(SpreadsTest, WithoutGroupsThereIsOneOfAll) {
  const auto spreads = spreads_of(two_hosts(), "o", {});
  ASSERT_EQ(spreads[0].groups.size(), 1u);
  EXPECT_EQ(spreads[0].groups[0].count, spreads[0].all.count);
}

TEST(SpreadsTest, WhatIsOnlyCountedIsInTheOrderOfCounts) {
  Sums sums;
  Frame frame = frame_of("a");
  frame.table.keys = {{KeyKind::kSigned, "status", 0}};
  frame.table.values = {};
  frame.table.rows = {{{{200, "", {}}}, 5, {}}, {{{static_cast<std::uint64_t>(-1), "", {}}}, 7, {}}};
  put(sums, frame);
  const auto spreads = spreads_of(sums, "o", {"status"});
  EXPECT_EQ(spreads[0].value, std::nullopt);
  EXPECT_THAT(spreads[0].groups[0].key, ElementsAre("-1"));
  EXPECT_EQ(spreads[0].groups[0].count, 7u);
  EXPECT_THAT(spreads[0].groups[1].key, ElementsAre("200"));
}

TEST(SpreadsTest, AHostThatCountsSomethingElseIsNamed) {
  Sums sums = two_hosts();
  Frame other = frame_of("c");
  other.table.keys[0].name = "path";
  count(other, "/", 1, 1);
  put(sums, other);
  const auto spreads = spreads_of(sums, "o", {"host"});
  EXPECT_EQ(spreads[0].all.count, 200u);
  EXPECT_THAT(spreads[0].misfits, ElementsAre("c"));
}

TEST(SpreadsTest, OneHostThatComesFirstDoesNotLeaveOutTheOthers) {
  Sums sums = two_hosts();
  Frame other = frame_of("Aaa");
  other.table.keys[0].name = "path";
  count(other, "/", 1, 1);
  put(sums, other);
  const auto spreads = spreads_of(sums, "o", {"route"});
  EXPECT_EQ(spreads[0].all.count, 200u);
  EXPECT_THAT(spreads[0].keys, ElementsAre("route"));
  EXPECT_THAT(spreads[0].misfits, ElementsAre("Aaa"));
}

TEST(SpreadsTest, AnOrderWithoutFramesHasNone) { EXPECT_TRUE(spreads_of(two_hosts(), "other", {}).empty()); }

TEST(SpreadsTest, OneHostsBucketsAreBoundedOverAllItsGenerations) {
  constexpr std::size_t kMost = 2u << 20;
  constexpr std::uint64_t kRows = 2000;
  Sums sums(kMost);
  Frame good = frame_of("good");
  count(good, "/", 10, 3);
  put(sums, good);
  for (std::uint64_t i = 0; i < 10; ++i) {
    Frame evil = frame_of("evil");
    evil.generation = 1 + i;
    for (std::uint64_t row = 0; row < kRows; ++row) count(evil, "/", 1000 + i * kRows + row, 1);
    put(sums, evil);
  }
  for (const std::vector<std::string>& by : {std::vector<std::string>{"host"}, {"route"}, {}}) {
    const auto spreads = spreads_of(sums, "o", by);
    ASSERT_EQ(spreads.size(), 1u);
    EXPECT_THAT(spreads[0].misfits, ElementsAre("evil"));
    EXPECT_LT(spreads[0].all.spread.buckets().size(), kMost / 100);
    EXPECT_GE(spreads[0].all.spread.buckets().size(), kRows);
    EXPECT_EQ(spreads[0].all.spread.buckets().at(10).count, 3u);
  }
}

}  // namespace
}  // namespace landtrace::fleet
