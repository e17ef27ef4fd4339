#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/clock.hpp"
#include "arch/rseq.hpp"
#include "cli/doctor/check.hpp"

namespace landtrace::cli::doctor {
namespace {

Check check_of(const std::string& id) {
  for (Check& check : check_machine()) {
    if (check.id == id) return check;
  }
  ADD_FAILURE() << "no check " << id;
  return {kMachine, id, State::kMissing, "", ""};
}

TEST(DoctorMachineTest, EachQuestionHasAnAnswer) {
  std::vector<std::string> ids;
  for (const Check& check : check_machine()) {
    ids.push_back(check.id);
    EXPECT_STREQ(check.group, kMachine);
    EXPECT_NE(check.detail, "") << check.id;
    EXPECT_EQ(check.advice.empty(), check.state != State::kMissing) << check.id;
  }
  EXPECT_THAT(ids,
              testing::ElementsAre("rseq", "membarrier", "memfd_seals", "tsc", "proc_connector", "kernel_user_events"));
}

TEST(DoctorMachineTest, SaysWhatTheDataPlaneUses) {
  EXPECT_EQ(check_of("rseq").state == State::kWorks, arch::rseq_usable());
  EXPECT_EQ(check_of("tsc").state == State::kWorks, arch::best_raw_clock() == arch::RawClock::kTsc);
}

}  // namespace
}  // namespace landtrace::cli::doctor
