#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/doctor/check.hpp"

namespace landtrace::cli::doctor {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kUser = 1000;

TEST(DoctorProbesTest, BothQuestionsHaveAnAnswer) {
  const std::vector<Check> checks = check_probes();
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[0].id, "probes");
  EXPECT_EQ(checks[1].id, "attach");
  for (const Check& check : checks) {
    EXPECT_STREQ(check.group, kProbes);
    EXPECT_EQ(check.advice.empty(), check.state != State::kMissing) << check.id;
  }
}

TEST(DoctorProbesTest, WhoMayAttachIsYamasToSay) {
  EXPECT_EQ(judge_attach(kUser, -1).state, State::kWorks);
  EXPECT_EQ(judge_attach(kUser, 0).state, State::kWorks);
  EXPECT_THAT(judge_attach(kUser, 0).detail, HasSubstr("of this user"));
  EXPECT_EQ(judge_attach(kUser, 1).state, State::kMissing);
  EXPECT_THAT(judge_attach(kUser, 1).detail, HasSubstr("kernel.yama.ptrace_scope is 1: only programs that landtrace"));
  EXPECT_THAT(judge_attach(kUser, 1).advice, HasSubstr("`sysctl kernel.yama.ptrace_scope=0`"));
  EXPECT_THAT(judge_attach(kUser, 2).detail, HasSubstr("only root"));
  EXPECT_THAT(judge_attach(kUser, 2).advice, testing::Not(HasSubstr("sysctl")));
  EXPECT_EQ(judge_attach(0, 2).state, State::kWorks);
  EXPECT_THAT(judge_attach(0, 1).detail, HasSubstr("root may attach any"));
  EXPECT_EQ(judge_attach(0, 3).state, State::kMissing);
  EXPECT_EQ(judge_attach(kUser, 3).state, State::kMissing);
}

}  // namespace
}  // namespace landtrace::cli::doctor
