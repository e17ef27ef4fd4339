#include "cli/failure.hpp"

#include <gtest/gtest.h>

namespace landtrace::cli {
namespace {

TEST(FailureTest, AnErrorWithoutASentenceHasTheSystemsWords) {
  EXPECT_EQ(sentence(Error(ENOENT)), "No such file or directory");
  EXPECT_EQ(sentence(Error(ENOENT, "there is none")), "there is none");
}

TEST(FailureTest, AFileIsNamedOnce) {
  EXPECT_EQ(sentence(Error(EACCES), "a.dat"), "a.dat: Permission denied");
  EXPECT_EQ(sentence(Error(EBADMSG, "a.dat is damaged"), "a.dat"), "a.dat is damaged");
}

TEST(FailureTest, OfSeveralLinesTheFirstIsTaken) {
  EXPECT_EQ(one_line("first\nsecond"), "first");
  EXPECT_EQ(one_line("only"), "only");
}

TEST(FailureTest, AComplaintNamesTheProgramAndGivesTheStatus) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(fail_with(kBadUse, "no such thing"), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "landtrace: no such thing\n");
}

}  // namespace
}  // namespace landtrace::cli
