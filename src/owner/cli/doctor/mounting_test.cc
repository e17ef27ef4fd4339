#include "cli/doctor/mounting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>

#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli::doctor {
namespace {

using testing::HasSubstr;

TEST(DoctorMountingTest, UsersNeedAFusermountThatIsSetuidRoot) {
  EXPECT_EQ(judge_fusermount("/bin/f", true, false).state, State::kWorks);
  const Check plain = judge_fusermount("/bin/f", false, false);
  EXPECT_EQ(plain.state, State::kMissing);
  EXPECT_EQ(plain.detail, "/bin/f is not setuid root");
  EXPECT_EQ(plain.advice, "as root: chmod u+s /bin/f");
  const Check none = judge_fusermount("", false, false);
  EXPECT_EQ(none.state, State::kMissing);
  EXPECT_THAT(none.advice, HasSubstr("install the package"));
}

TEST(DoctorMountingTest, RootNeedsNoFusermount) {
  for (const char* const file : {"", "/bin/f"}) {
    const Check check = judge_fusermount(file, false, true);
    EXPECT_EQ(check.state, State::kAbsent);
    EXPECT_EQ(check.advice, "");
  }
}

TEST(DoctorMountingTest, AProgramIsTheFirstOfItsNameThatCanBeRun) {
  const output::TempDir one, two;
  output::write_text(one.file("tool"), "");
  output::write_text(two.file("tool"), "");
  ASSERT_EQ(::chmod(two.file("tool").c_str(), 0755), 0);
  const std::string path = one.file("") + ":" + two.file("");
  EXPECT_EQ(find_program("tool", path.c_str()), two.file("") + "/tool");
  ASSERT_EQ(::chmod(one.file("tool").c_str(), 0755), 0);
  EXPECT_EQ(find_program("tool", path.c_str()), one.file("") + "/tool");
  EXPECT_EQ(find_program("other", path.c_str()), "");
  EXPECT_EQ(find_program("tool", ""), "");
  EXPECT_NE(find_program("sh", nullptr), "");
}

TEST(DoctorMountingTest, ATracefsIsNamedWhereThereIsOne) {
  EXPECT_EQ(judge_tracefs({}).state, State::kAbsent);
  const Check check = judge_tracefs({"/a", "/b"});
  EXPECT_EQ(check.state, State::kWorks);
  EXPECT_THAT(check.detail, HasSubstr("mounted at /a,"));
}

TEST(DoctorMountingTest, MountedFilesAreMappedFrom66On) {
  const std::map<std::string, State> kReleases{
      {"5.15.0-91-generic", State::kMissing}, {"6.5.13", State::kMissing}, {"6.6.0", State::kWorks},
      {"6.12.6+deb13", State::kWorks},        {"7.0", State::kWorks},      {"", State::kMissing}};
  for (const auto& [release, state] : kReleases) {
    const Check check = judge_mapped_status(release);
    EXPECT_EQ(check.state, state) << release;
    EXPECT_THAT(check.detail, HasSubstr("Linux " + release + ":"));
    EXPECT_EQ(check.advice.empty(), state == State::kWorks);
  }
}

TEST(DoctorMountingTest, EachQuestionHasAnAnswer) {
  std::vector<std::string> ids;
  for (const Check& check : check_mounting()) {
    ids.push_back(check.id);
    EXPECT_STREQ(check.group, kFiles);
    EXPECT_NE(check.detail, "") << check.id;
  }
  EXPECT_THAT(ids, testing::ElementsAre("dev_fuse", "fusermount3", "user_namespaces", "tracefs_line", "mapped_status"));
}

}  // namespace
}  // namespace landtrace::cli::doctor
