#include "arch/rseq.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace landtrace::arch {
namespace {

TEST(RseqTest, AreaKnowsTheCpuOfEachThread) {
  if (!rseq_usable()) GTEST_SKIP() << "SKIPPED: no restartable sequences here (C library, tunable or CPU)";
  RseqArea* main_area = rseq_area();
  std::thread([&] {
    ASSERT_TRUE(rseq_usable());
    EXPECT_NE(rseq_area(), main_area);
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(0, &here);
    if (sched_setaffinity(0, sizeof here, &here) == 0) {
      EXPECT_EQ(rseq_area()->cpu_id, 0u);
    }
  }).join();
}

}  // namespace
}  // namespace landtrace::arch
