// The recorded answers of a real kernel, given by the tree without a mount.
#include <gtest/gtest.h>
#include <sched.h>

#include "support/transcript.hpp"
#include "tracefs/test_probed.hpp"
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

// FILE of FOLDER/FILE, as the list of differences names it.
std::string file_of(const std::string& transcript) { return transcript.substr(transcript.rfind('/') + 1); }

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
  const std::string file = file_of(GetParam());
  const auto cases = support::read_transcript(GetParam());
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

class ProbeTranscript : public testing::TestWithParam<const char*> {};

TEST_P(ProbeTranscript, IsAnsweredAsTheKernelDoes) {
  const auto expected_differences = support::read_expected_differences();
  const auto cases = support::read_transcript(GetParam());
  ASSERT_FALSE(cases.empty());
  const TestProbed probed;
  TestSession session;
  for (const support::Case& recorded : cases) {
    session.clean();
    if (expected_differences.contains(file_of(GetParam()) + ":" + recorded.name)) continue;
    SCOPED_TRACE(recorded.name);
    for (const support::Step& step : recorded.steps) {
      std::vector<std::string> command = step.command;
      for (std::string& word : command) word = probed.fill(word);
      const auto answer = session.run(command);
      ASSERT_TRUE(answer) << ::testing::PrintToString(command);
      EXPECT_EQ(probed.strip(*answer), step.output) << ::testing::PrintToString(step.command);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, ProbeTranscript,
                         testing::Values("linux-6.12/90-uprobe.txt", "linux-6.12/92-kprobe.txt"));

INSTANTIATE_TEST_SUITE_P(Files, TreeTranscript,
                         testing::Values("linux-6.12/10-register.txt", "linux-6.12/11-match.txt",
                                         "linux-6.12/12-flags.txt", "linux-6.12/13-enable.txt",
                                         "linux-6.12/14-write.txt", "linux-6.12/20-filter.txt",
                                         "linux-6.12/30-trigger.txt", "linux-6.12/40-hist.txt",
                                         "linux-6.12/60-instance.txt", "linux-6.12/61-trace-text.txt",
                                         "linux-6.12/50-synthetic.txt", "linux-6.12/70-eprobe.txt"));

// Made by a grammar, and broken in one place now and then.
INSTANTIATE_TEST_SUITE_P(RandomFiles, TreeTranscript,
                         testing::Values("linux-6.12-random/10-register.txt", "linux-6.12-random/20-filter.txt",
                                         "linux-6.12-random/30-trigger.txt", "linux-6.12-random/40-hist.txt",
                                         "linux-6.12-random/50-synthetic.txt", "linux-6.12-random/70-eprobe.txt"));

}  // namespace
}  // namespace landtrace::tracefs
