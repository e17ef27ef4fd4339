// The recorded answers of a real kernel, given by the tree without a mount.
#include <gtest/gtest.h>
#include <sched.h>

#include "support/transcript.hpp"
#include "tracefs/test_session.hpp"

namespace landtrace::tracefs {
namespace {

// Not what a process does with its own memory.
bool is_ours(const support::Case& recorded) {
  for (const support::Step& step : recorded.steps) {
    for (const std::string& word : step.command) {
      if (word.starts_with("struct=") || word.starts_with("addr=")) return false;
    }
  }
  return true;
}

class TreeTranscript : public testing::TestWithParam<const char*> {
 protected:
  TreeTranscript() {  // filters on CPUs were recorded on CPU 0
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    ::sched_setaffinity(0, sizeof first, &first);
  }
};

TEST_P(TreeTranscript, IsAnsweredAsTheKernelDoes) {
  const auto expected_differences = support::read_expected_differences();
  const std::string file = GetParam();
  const auto cases = support::read_transcript("linux-6.12/" + file);
  ASSERT_FALSE(cases.empty());
  TestSession session;
  for (const support::Case& recorded : cases) {
    session.clean();
    if (!is_ours(recorded) || expected_differences.contains(file + ":" + recorded.name)) continue;
    SCOPED_TRACE(recorded.name);
    bool wrote_otherwise = false;
    for (const support::Step& step : recorded.steps) {
      if (wrote_otherwise && step.command[0] == "trace") continue;
      const auto answer = session.run(step.command);
      wrote_otherwise = wrote_otherwise || !answer;
      if (!answer) continue;
      EXPECT_EQ(*answer, step.output) << ::testing::PrintToString(step.command);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, TreeTranscript,
                         testing::Values("10-register.txt", "11-match.txt", "12-flags.txt", "13-enable.txt",
                                         "14-write.txt", "20-filter.txt", "30-trigger.txt", "40-hist.txt",
                                         "60-instance.txt", "61-trace-text.txt", "50-synthetic.txt", "70-eprobe.txt"));

}  // namespace
}  // namespace landtrace::tracefs
