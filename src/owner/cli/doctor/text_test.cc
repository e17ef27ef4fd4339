#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/doctor/check.hpp"

namespace landtrace::cli::doctor {
namespace {

using testing::HasSubstr;

const std::vector<Check> kChecks{
    {kMachine, "tsc", State::kAbsent, "another clock", ""},
    {kRecording, "native_library", State::kWorks, "an event was recorded", ""},
    {kFiles, "dev_fuse", State::kMissing, "no \"fuse\"", "load it"},
};

TEST(DoctorTextTest, GroupsAreInTheirOrderWithAdviceBelow) {
  EXPECT_EQ(human_text(kChecks),
            "recording\n"
            "  ok       native_library      an event was recorded\n"
            "files\n"
            "  missing  dev_fuse            no \"fuse\"\n"
            "                               -> load it\n"
            "machine\n"
            "  none     tsc                 another clock\n"
            "probes\n"
            "domains\n"
            "Recording works here.\n");
}

TEST(DoctorTextTest, ANarrowTerminalHasDetailsBelowTheNames) {
  EXPECT_EQ(human_text({{kFiles, "dev_fuse", State::kMissing, "there is no \"fuse\" here at all", "load it"},
                        {kFiles, "other", State::kWorks, "ok", ""}},
                       30),
            "recording\n"
            "files\n"
            "  missing  dev_fuse\n"
            "    there is no \"fuse\" here at\n"
            "    all\n"
            "    -> load it\n"
            "  ok       other\n"
            "    ok\n"
            "machine\n"
            "probes\n"
            "domains\n"
            "Recording works here.\n");
}

TEST(DoctorTextTest, ALongDetailStaysInItsColumn) {
  EXPECT_THAT(human_text({{kFiles, "dev_fuse", State::kMissing, std::string(45, 'x') + " here at all", ""}}, 80),
              HasSubstr("  missing  dev_fuse            " + std::string(45, 'x') + "\n" + std::string(31, ' ') +
                        "here at all\n"));
}

TEST(DoctorTextTest, RecordingNeedsAllOfItsOwnChecksAndNoOthers) {
  EXPECT_TRUE(can_record(kChecks));
  std::vector<Check> checks = kChecks;
  checks.push_back({kRecording, "preload_shim", State::kMissing, "not there", ""});
  EXPECT_FALSE(can_record(checks));
  EXPECT_THAT(human_text(checks), HasSubstr("Recording does not work here.\n"));
  EXPECT_THAT(json_text(checks), HasSubstr("\"recording\":false,"));
  checks.back().state = State::kAbsent;
  EXPECT_FALSE(can_record(checks));
}

TEST(DoctorTextTest, JsonHasAllOfItInTheirOrder) {
  const std::string json = json_text(kChecks);
  EXPECT_TRUE(json.starts_with("{\"version\":\"")) << json;
  EXPECT_THAT(json, HasSubstr(R"(","recording":true,"checks":[
{"group":"machine","id":"tsc","state":"none","detail":"another clock","advice":""},
{"group":"recording","id":"native_library","state":"ok","detail":"an event was recorded","advice":""},
{"group":"files","id":"dev_fuse","state":"missing","detail":"no \"fuse\"","advice":"load it"}
]}
)"));
}

}  // namespace
}  // namespace landtrace::cli::doctor
