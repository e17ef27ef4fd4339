#include "output/cpu_stats.hpp"

#include <gtest/gtest.h>

namespace landtrace::output {
namespace {

TEST(CpuStatsTest, TextIsTheKernels) {
  CpuStats stats;
  stats.entries = 3;
  stats.bytes = 132;
  stats.oldest_event_ns = 25'000'001'999;
  stats.now_ns = 1'037'009'066'000;
  EXPECT_EQ(cpu_stats_text(stats),
            "entries: 3\noverrun: 0\ncommit overrun: 0\nbytes: 132\n"
            "oldest event ts:    25.000001\nnow ts:  1037.009066\ndropped events: 0\nread events: 0\n");
}

TEST(CpuStatsTest, TextIsReadBack) {
  const CpuStats stats{1, 2, 3, 4, 5'000'006'000, 7'000'000'000, 8, 9};
  EXPECT_EQ(parse_cpu_stats(cpu_stats_text(stats)), stats);
}

TEST(CpuStatsTest, StrangeLinesArePassedOver) {
  EXPECT_EQ(parse_cpu_stats("CPU: 0\nnonsense\nentries: x\n\nnow ts: 5\noverrun: 7"), (CpuStats{.overrun = 7}));
}

}  // namespace
}  // namespace landtrace::output
