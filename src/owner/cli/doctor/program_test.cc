#include "cli/doctor/program.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace landtrace::cli::doctor {
namespace {

std::string outcome(const char* script, const std::vector<std::string>& environment = {}) {
  const auto done = run_program({"/bin/sh", "-c", script}, environment);
  return done ? "" : done.error().message;
}

TEST(DoctorProgramTest, AProgramThatSucceedsIsFine) { EXPECT_EQ(outcome("echo all is well"), ""); }

TEST(DoctorProgramTest, TheLastLineOfAProgramThatFailsIsWhy) {
  EXPECT_EQ(outcome("echo first; echo 'no device' >&2; exit 1"), "no device");
  EXPECT_EQ(outcome("echo last; echo; exit 1"), "last");
}

TEST(DoctorProgramTest, OurOwnNameIsNotRepeated) {
  EXPECT_EQ(outcome("echo 'landtrace: no domain'; exit 1"), "no domain");
}

TEST(DoctorProgramTest, WithoutALineItIsTheStatusOrTheSignal) {
  EXPECT_EQ(outcome("exit 9"), "exit status 9");
  EXPECT_EQ(outcome("kill -11 $$"), "signal 11 ended it");
}

TEST(DoctorProgramTest, HasTheEnvironmentThatWasGiven) {
  EXPECT_EQ(outcome("test \"$A\" = b", {"A=b"}), "");
  EXPECT_EQ(outcome("test \"$A\" = b"), "exit status 1");
}

TEST(DoctorProgramTest, AProgramThatIsNotThereIsNamed) {
  const auto done = run_program({"/no/such/program"}, {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ENOENT);
  EXPECT_NE(done.error().message.find("/no/such/program"), std::string::npos);
}

TEST(DoctorProgramTest, WorkInAChildChangesNothingHere) {
  int here = 1;
  EXPECT_TRUE(run_in_child([&]() -> Result<void> {
    here = 2;
    return {};
  }));
  EXPECT_EQ(here, 1);
}

TEST(DoctorProgramTest, WhatFailsInAChildIsTold) {
  const auto done = run_in_child([]() -> Result<void> { return fail(EPERM, "not here"); });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "not here");
  const auto bare = run_in_child([]() -> Result<void> { return fail(EPERM); });
  EXPECT_EQ(bare.error().message, "Operation not permitted");
}

TEST(DoctorProgramTest, AChildThatDiesIsTold) {
  const auto done = run_in_child([]() -> Result<void> {
    ::raise(SIGKILL);
    return {};
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "signal 9 ended it");
}

}  // namespace
}  // namespace landtrace::cli::doctor
