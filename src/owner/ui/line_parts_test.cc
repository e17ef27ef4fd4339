#include "ui/line_parts.hpp"

#include <gtest/gtest.h>

namespace landtrace::ui {
namespace {

TEST(LinePartsTest, ALineHasThreadTimeAndEvent) {
  LineParts parts;
  ASSERT_TRUE(parse_line("        producer-14834   [000] ..... 65734.724624: job: source=0x0 (0)", parts));
  EXPECT_EQ(parts.comm, "producer");
  EXPECT_EQ(parts.tid, 14834);
  EXPECT_EQ(parts.tgid, 0);
  EXPECT_EQ(parts.time_us, 65734'724624u);
  EXPECT_EQ(parts.event, "job");
}

TEST(LinePartsTest, TheProcessStandsInParentheses) {
  LineParts parts;
  ASSERT_TRUE(parse_line("          worker-23571   (  23570) [000] ..... 7.000012: done: x", parts));
  EXPECT_EQ(parts.tid, 23571);
  EXPECT_EQ(parts.tgid, 23570);
  EXPECT_EQ(parts.time_us, 7'000012u);
  ASSERT_TRUE(parse_line("          worker-23571   (-------) [000] ..... 7.000012: done: x", parts));
  EXPECT_EQ(parts.tgid, 0);
}

TEST(LinePartsTest, TimesOfOtherClocksAreNumbers) {
  LineParts parts;
  ASSERT_TRUE(parse_line("          worker-1   [000] ..... 123456: done: x", parts));
  EXPECT_EQ(parts.time_us, 123456u);
}

TEST(LinePartsTest, ANameThatLooksLikeALineMisleadsNobody) {
  LineParts parts;
  ASSERT_TRUE(parse_line(" a-1 [0] . 1: x:-14834   [000] ..... 65734.724624: job: text: more", parts));
  EXPECT_EQ(parts.comm, "a-1 [0] . 1: x:");
  EXPECT_EQ(parts.tid, 14834);
  EXPECT_EQ(parts.event, "job");
}

TEST(LinePartsTest, AnEventMayBeNamedWithItsSystem) {
  LineParts parts;
  ASSERT_TRUE(parse_line("        producer-14834   [000] ..... 65734.724624: user_events:job: a:b: c", parts));
  EXPECT_EQ(parts.event, "user_events:job");
  ASSERT_TRUE(parse_line("        producer-14834   [000] ..... 65734.724624: synthetic:job:", parts));
  EXPECT_EQ(parts.event, "synthetic:job");
  ASSERT_TRUE(parse_line("        producer-14834   [000] ..... 65734.724624: tracing_mark_write: a:b", parts));
  EXPECT_EQ(parts.event, "tracing_mark_write");
}

TEST(LinePartsTest, OtherLinesAreNoEvents) {
  LineParts parts;
  for (const char* line : {"", "=> main", "CPU:1 [LOST 123 EVENTS]",
                           "        producer-x   [000] 1: job: ", "        producer-1   [000] without a colon"}) {
    EXPECT_FALSE(parse_line(line, parts)) << line;
  }
}

TEST(LinePartsTest, ALossHasANumberOrCountsAsOne) {
  EXPECT_EQ(lost_in("CPU:1 [LOST 123 EVENTS]"), 123u);
  EXPECT_EQ(lost_in("CPU:0 [LOST EVENTS]"), 1u);
  EXPECT_EQ(lost_in("a text [LOST 5 EVENTS]"), 0u);
  EXPECT_EQ(lost_in("CPU:0"), 0u);
  EXPECT_EQ(lost_in("CPU:1 [LOST 7 E-1234"), 0u);
  EXPECT_EQ(lost_in("CPU:1 [LOST 7 E-1234   [000] ..... 1.0: job: EVENTS]"), 0u);
  EXPECT_EQ(lost_in("CPU:1 x [LOST 7 EVENTS]"), 0u);
}

}  // namespace
}  // namespace landtrace::ui
