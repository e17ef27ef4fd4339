#include "fleet/slow_sum.hpp"

#include <gtest/gtest.h>

#include "fleet/subjects.hpp"
#include "fleet/sums.hpp"

namespace landtrace::fleet {
namespace {

using ipc::KeyKind;

Slow slow(const std::string& route, std::uint64_t ns) {
  return {.keys = {{0, route, {}}, {ns, "", {}}},
          .ns = ns,
          .time_ns = 1000 + ns,
          .tid = 4711,
          .task = "service",
          .fields = R"({"id":7})",
          .stack = {"handle [service]", "main [service]"}};
}

Frame frame_of(const std::string& host, std::uint64_t generation, std::vector<Slow> slowest) {
  Frame frame;
  frame.host = host;
  frame.domain = "system";
  frame.labels = "zone=x";
  frame.order = "o";
  frame.event = "a -> b";
  frame.generation = generation;
  frame.sequence = 1;
  frame.table.keys = {{KeyKind::kText, "route", 0}, {KeyKind::kSteps, "latency_ns", 32}};
  frame.table.values = {{"latency_ns"}};
  frame.slowest = std::move(slowest);
  return frame;
}

Sum sum_of(const std::vector<Frame>& frames, const std::vector<std::string>& by = {}) {
  Sums sums;
  for (const Frame& frame : frames) EXPECT_TRUE(sums.add(subject_of(frame), encode(frame)));
  return sums.of("o", by).at(0);
}

TEST(SlowSumTest, TheSlowestOfAllHostsIsKeptWithItsHost) {
  const Sum sum = sum_of({frame_of("a", 1, {slow("/", 900), slow("/", 70), slow("/x", 5)}),
                          frame_of("b", 1, {slow("/", 1000), slow("/", 65)}), frame_of("c", 1, {})});
  ASSERT_EQ(sum.slowest.size(), 3u) << "of each group and power of two one";
  Slow wanted = slow("/", 1000);
  wanted.host = "b";
  EXPECT_EQ(sum.slowest[0], wanted);
  EXPECT_EQ(sum.slowest[1].host, "a");
  EXPECT_EQ(sum.slowest[1].ns, 70u);
  EXPECT_EQ(sum.slowest[2].keys[0].text, "/x");
}

TEST(SlowSumTest, LabelsStandBeforeItsKeys) {
  const Sum sum = sum_of({frame_of("a", 1, {slow("/", 900)}), frame_of("b", 1, {slow("/", 1000)})}, {"host", "zone"});
  ASSERT_EQ(sum.slowest.size(), 2u);
  EXPECT_EQ(sum.slowest[0].keys.size(), sum.table.keys.size());
  EXPECT_EQ(sum.slowest[0].keys[0].text, "b");
  EXPECT_EQ(sum.slowest[0].keys[1].text, "x");
  EXPECT_EQ(sum.slowest[1].keys[0].text, "a");
}

// Whoever may publish as one host: in each of many generations as much as goes into a frame, of groups of its own.
TEST(SlowSumTest, OneHostHasNoMoreThanAFrame) {
  std::vector<Frame> frames{frame_of("good", 1, {slow("/", 10)})};
  for (std::uint64_t generation = 1; generation < 50; ++generation) {
    std::vector<Slow> many;
    for (std::size_t i = 0; i < 100; ++i) many.push_back(slow("/" + std::to_string(100 * generation + i), ~0ull - i));
    frames.push_back(frame_of("evil", generation, std::move(many)));
  }
  const Sum sum = sum_of(frames);
  EXPECT_EQ(sum.slowest.size(), kMostSlow + 1);
  EXPECT_EQ(sum.slowest.back().host, "good");
}

TEST(SlowSumTest, AHostCannotSpeakForAnother) {
  Slow lie = slow("/", 900);
  lie.host = "b";
  EXPECT_EQ(sum_of({frame_of("a", 1, {lie})}).slowest.at(0).host, "a");
}

}  // namespace
}  // namespace landtrace::fleet
