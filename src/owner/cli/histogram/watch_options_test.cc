#include "cli/histogram/watch_options.hpp"

#include <gtest/gtest.h>

namespace landtrace::cli {
namespace {

constexpr std::uint64_t kSecond_ns = 1'000'000'000;

WatchOptions with_times(const std::string& interval, const std::string& duration) {
  WatchOptions options;
  options.interval = interval;
  options.duration = duration;
  return options;
}

TEST(WatchOptionsTest, APersonSeesItEverySecond) {
  WatchOptions options;
  ASSERT_TRUE(check_watch_options(options, true));
  EXPECT_EQ(options.interval_ns, kSecond_ns);
  EXPECT_EQ(options.duration_ns, 0u);
}

TEST(WatchOptionsTest, AProgramSeesItAtTheEnd) {
  WatchOptions options;
  ASSERT_TRUE(check_watch_options(options, false));
  EXPECT_EQ(options.interval_ns, 0u);
  options.json = true;
  ASSERT_TRUE(check_watch_options(options, true));
  EXPECT_EQ(options.interval_ns, 0u);
}

TEST(WatchOptionsTest, TimesAreSecondsWithDecimals) {
  WatchOptions options = with_times("0.25", "10");
  ASSERT_TRUE(check_watch_options(options, true));
  EXPECT_EQ(options.interval_ns, kSecond_ns / 4);
  EXPECT_EQ(options.duration_ns, 10 * kSecond_ns);
}

std::string refusal(const std::string& interval, const std::string& duration) {
  WatchOptions options = with_times(interval, duration);
  const auto checked = check_watch_options(options, false);
  return checked ? "" : checked.error().message;
}

TEST(WatchOptionsTest, NoTimeAtAllIsRefusedByName) {
  EXPECT_EQ(refusal("0", ""), "--interval: want more than 0 seconds");
  EXPECT_EQ(refusal("", "0.0"), "--duration: want more than 0 seconds");
  EXPECT_NE(refusal("", "soon"), "");
  EXPECT_NE(refusal("often", ""), "");
  EXPECT_EQ(refusal("1", "1"), "");
}

TEST(WatchOptionsTest, AnEventWithoutASystemIsAUserEvent) {
  EXPECT_EQ(full_event_name("job"), "user_events:job");
  EXPECT_EQ(full_event_name("synthetic:job"), "synthetic:job");
}

TEST(WatchOptionsTest, AnEventIsOneEvent) {
  EXPECT_TRUE(check_event_name("--to", "job"));
  EXPECT_TRUE(check_event_name("--to", "synthetic:job"));
  for (const char* const name : {"j*", "synthetic:", "user_events:*", "[j]ob"}) {
    const auto refused = check_event_name("--to", name);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().message, std::string("--to: want one event, not '") + name + "'");
  }
  EXPECT_FALSE(check_event_name("--to", "a b"));
}

TEST(WatchOptionsTest, WhatIsNoFilterIsPointedAt) {
  WatchOptions options;
  options.filter = "(n > 5";
  const auto refused = check_watch_options(options, false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "--filter: Too many '('\n  (n > 5\n  ^");
}

TEST(WatchOptionsTest, FilesAreForACommand) {
  WatchOptions options;
  options.tracefs = true;
  EXPECT_FALSE(check_watch_options(options, false));
  options.command = {"true"};
  EXPECT_TRUE(check_watch_options(options, false));
}

TEST(WatchOptionsTest, WordsForTriggers) {
  EXPECT_EQ(without_modifier("latency_ns.log2"), "latency_ns");
  EXPECT_EQ(without_modifier("latency_ns"), "latency_ns");
  EXPECT_EQ(with_commas({"a", "b", "c"}), "a,b,c");
  EXPECT_EQ(with_commas({"a"}), "a");
  EXPECT_EQ(with_commas({}), "");
}

TEST(WatchOptionsTest, ATableHasRoomForAtLeastWhatWasAskedFor) {
  WatchOptions options;
  EXPECT_EQ(size_text(options), "");
  options.size = 128;
  EXPECT_EQ(size_text(options), ":size=128");
  options.size = 129;
  EXPECT_EQ(size_text(options), ":size=256");
  options.size = ~0ull;
  EXPECT_EQ(size_text(options), ":size=4611686018427387904") << "the owner says that there is no such table";
}

TEST(WatchOptionsTest, ATriggerEndsWithItsSizeAndItsFilter) {
  WatchOptions options;
  EXPECT_EQ(trigger_end(options), "");
  options.filter = "n > 5";
  EXPECT_EQ(trigger_end(options), " if n > 5");
  options.size = 200;
  EXPECT_EQ(trigger_end(options), ":size=256 if n > 5");
}

}  // namespace
}  // namespace landtrace::cli
