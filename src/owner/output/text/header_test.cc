// Against the transcripts of the real kernel (61-trace-text.txt).
#include "output/text/header.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace landtrace::output {
namespace {

using ::testing::EndsWith;

std::string header(const TextColumns& columns) {
  std::string out;
  append_text_header(out, 2, 5, 4, columns);
  return out;
}

TEST(TextHeaderTest, AllColumns) {
  EXPECT_EQ(header({}),
            "# tracer: nop\n"
            "#\n"
            "# entries-in-buffer/entries-written: 2/5   #P:4\n"
            "#\n"
            "#                                _-----=> irqs-off/BH-disabled\n"
            "#                               / _----=> need-resched\n"
            "#                              | / _---=> hardirq/softirq\n"
            "#                              || / _--=> preempt-depth\n"
            "#                              ||| / _-=> migrate-disable\n"
            "#                              |||| /     delay\n"
            "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
            "#              | |         |   |||||     |         |\n");
}

TEST(TextHeaderTest, TgidColumn) {
  EXPECT_THAT(header({.tgid = true}), EndsWith("#                                        |||| /     delay\n"
                                               "#           TASK-PID       TGID    CPU#  |||||  TIMESTAMP  FUNCTION\n"
                                               "#              | |           |       |   |||||     |         |\n"));
}

TEST(TextHeaderTest, WithoutIrqInfo) {
  EXPECT_EQ(header({.irq_info = false}),
            "# tracer: nop\n"
            "#\n"
            "# entries-in-buffer/entries-written: 2/5   #P:4\n"
            "#\n"
            "#           TASK-PID     CPU#     TIMESTAMP  FUNCTION\n"
            "#              | |         |         |         |\n");
}

TEST(TextHeaderTest, WithoutContext) { EXPECT_EQ(header({.context = false}), "# tracer: nop\n#\n"); }

// As Linux 6.18 prints it, but for the names of kernel and preemption model.
TEST(TextHeaderTest, LatencyFormat) {
  EXPECT_THAT(
      header({.latency = true}),
      ::testing::MatchesRegex("# tracer: nop\n#\n# nop latency trace v1.1.5 on [^\n]+\n#( )?-+\n"
                              "# latency: 0 us, #2/5, CPU#0 \\| \\(M:desktop VP:0, KP:0, SP:0 HP:0 #P:4\\)\n"
                              "#    -----------------\n#    \\| task: -0 \\(uid:0 nice:0 policy:0 rt_prio:0\\)\n"
                              "#    -----------------\n#\n"
                              "#                    _------=> CPU#            \n(.|\n)*"
                              "#     \\\\   /        \\|\\|\\|\\|\\|\\|  \\\\    \\|    /       \n"));
}

TEST(TextHeaderTest, LatencyFormatOfNothingAndVerbose) {
  std::string out;
  append_text_header(out, 0, 5, 4, {.latency = true});
  EXPECT_EQ(out, "# tracer: nop\n#\n");
  EXPECT_EQ(header({.verbose = true}), "# tracer: nop\n#\n");
  EXPECT_THAT(header({.latency = true, .verbose = true}), EndsWith("#    -----------------\n#\n"));
}

}  // namespace
}  // namespace landtrace::output
