// uprobe_events and kprobe_events beyond what the transcripts ask.
#include "tracefs/probe_files.hpp"

#include <gtest/gtest.h>

#include "tracefs/test_session.hpp"

namespace landtrace::tracefs {
namespace {

class ProbeFilesTest : public testing::Test {
 protected:
  static std::string at(const std::string& offset) { return "/bin/true:0x00000000000000" + offset; }
  std::string define(const std::string& line) { return session_.append("uprobe_events", line); }
  std::string listed() { return session_.cat("uprobe_events"); }

  TestSession session_;
};

TEST_F(ProbeFilesTest, ARemovalNamesThePlaceAsItIsShownAndTheFirstArguments) {
  for (const char* const place : {"40", "50", "60"}) {
    ASSERT_EQ(define("p:g/e " + at(place) + " a=%di b=%si:u8"), "ok");
  }
  EXPECT_EQ(session_.append("uprobe_events", "-:g/e /bin/true:0x50"), "-ENOENT");
  EXPECT_EQ(session_.append("uprobe_events", "-:g/e " + at("50") + " b=%si:u8"), "-ENOENT");
  EXPECT_EQ(session_.append("kprobe_events", "-:g/e"), "-ENOENT");
  EXPECT_EQ(session_.append("uprobe_events", "-:g/e " + at("50") + " a=%di"), "ok");
  EXPECT_EQ(listed(), "p:g/e " + at("40") + " a=%di b=%si:u8\np:g/e " + at("60") + " a=%di b=%si:u8");
  EXPECT_EQ(session_.append("dynamic_events", "-:g/e " + at("40") + " a=%di b=%si:u8"), "ok");
  EXPECT_EQ(session_.append("uprobe_events", "-:g/"), "ok");
  EXPECT_EQ(listed(), "(empty)");
}

TEST_F(ProbeFilesTest, OfAnEventThatIsEnabledTheLastPlaceStays) {
  ASSERT_EQ(define("p:g/e " + at("40")), "ok");
  ASSERT_EQ(define("p:g/e " + at("50")), "ok");
  ASSERT_EQ(session_.put("events/g/e/enable", "1"), "ok");
  EXPECT_EQ(session_.append("uprobe_events", "-:g/e"), "-EBUSY");
  EXPECT_EQ(listed(), "p:g/e " + at("50"));
}

TEST_F(ProbeFilesTest, WhatLiesBehindTheEndOfTheFileCanBeDefinedButNotEnabled) {
  ASSERT_EQ(define("p:g/e /bin/true:0xffffffff"), "ok");
  ASSERT_EQ(define("p:g/odd " + at("40") + "(0x4011)"), "ok");
  for (const char* const name : {"e", "odd"}) {
    const std::string folder = std::string("events/g/") + name;
    EXPECT_EQ(session_.put(folder + "/enable", "1"), "-EINVAL");
    EXPECT_EQ(session_.cat(folder + "/enable"), "0");
    EXPECT_EQ(session_.put(folder + "/trigger", "traceoff"), "-EINVAL");
    EXPECT_EQ(session_.append("uprobe_events", std::string("-:g/") + name), "ok");
  }
}

TEST_F(ProbeFilesTest, SeveralTextsAreATextToAFilter) {
  ASSERT_EQ(define("p:g/e " + at("40") + " a=+0(%di):string[2] b=+0(%di):u8[2]"), "ok");
  EXPECT_EQ(session_.put("events/g/e/filter", "a ~ \"x*\""), "ok");
  EXPECT_EQ(session_.put("events/g/e/filter", "a == \"x\""), "ok");
  EXPECT_EQ(session_.put("events/g/e/filter", "a <= 1"), "-EINVAL");
  EXPECT_EQ(session_.put("events/g/e/filter", "b ~ \"x*\""), "-EINVAL");
}

TEST_F(ProbeFilesTest, EachFileTakesItsOwnAndEmptiesItself) {
  ASSERT_EQ(define("p:g/u " + at("40")), "ok");
  ASSERT_EQ(session_.append("kprobe_events", "p:g/k lt_no_such_module:f"), "ok");
  EXPECT_EQ(session_.append("kprobe_events", "p:g/x " + at("40")), "-EINVAL");
  EXPECT_EQ(session_.append("uprobe_events", "p:g/x lt_no_such_module:f"), "-EINVAL");
  EXPECT_EQ(session_.cat("error_log"), "(empty)");
  EXPECT_EQ(session_.append("dynamic_events", "p:g/x lt_no_such_module:g"), "ok");
  EXPECT_EQ(session_.append("dynamic_events", "r:g/y " + at("50")), "ok");
  EXPECT_EQ(session_.put("uprobe_events", ""), "ok");
  EXPECT_EQ(session_.cat("dynamic_events"), "p:g/k lt_no_such_module:f\np:g/x lt_no_such_module:g");
  EXPECT_EQ(session_.put("kprobe_events", ""), "ok");
  EXPECT_EQ(session_.cat("dynamic_events"), "(empty)");
}

TEST_F(ProbeFilesTest, AnInjectedProbePrintsAsOneThatWasHit) {
  ASSERT_EQ(define("p:g/e " + at("40") + " a=%di:s32 t=+0(%si):string"), "ok");
  ASSERT_EQ(define("r:g/r " + at("40") + " v=$retval:u8"), "ok");
  ASSERT_EQ(session_.put("events/g/enable", "1"), "ok");
  ASSERT_EQ(session_.put("events/g/e/filter", "__probe_ip == 0x40 && a < 0"), "ok");
  EXPECT_EQ(session_.put("events/g/e/inject", "__probe_ip=0x40 a=-3 t=\"text\""), "ok");
  EXPECT_EQ(session_.put("events/g/e/inject", "__probe_ip=0x41 a=-3 t=\"text\""), "ok");
  EXPECT_EQ(session_.put("events/g/r/inject", "__probe_func=0x40 __probe_ret_ip=0x99 v=7"), "ok");
  EXPECT_EQ(session_("trace"), "e: (0x40) a=-3 t=\"text\"\nr: (0x99 <- 0x40) v=7");
}

TEST_F(ProbeFilesTest, APatternDefinesManyAndRemovesThem) {
  ASSERT_EQ(define("p:g/* libc.so.6:qsort* n=$arg2"), "ok");
  EXPECT_EQ(listed(), "p:g/qsort libc.so.6:qsort n=$arg2\np:g/qsort_r libc.so.6:qsort_r n=$arg2");
  EXPECT_EQ(session_.cat("error_log"), "(empty)");
  EXPECT_EQ(session_.append("dynamic_events", "p:h/* libc.so.6:qsort_?"), "ok");
  EXPECT_EQ(session_.append("uprobe_events", "-:g/qsort_*"), "ok");
  EXPECT_EQ(listed(), "p:g/qsort libc.so.6:qsort n=$arg2");
  EXPECT_EQ(session_.append("uprobe_events", "-:g/x*"), "-ENOENT");
  ASSERT_EQ(session_.append("uprobe_events", "p:g/* libc.so.6:strn*"), "ok");
  const std::string all = listed();
  ASSERT_EQ(session_.put("events/g/strnlen/enable", "1"), "ok");
  EXPECT_EQ(session_.append("uprobe_events", "-:g/*"), "-EBUSY");
  EXPECT_EQ(listed(), all) << "nothing is half removed";
  ASSERT_EQ(session_.put("events/g/strnlen/enable", "0"), "ok");
  EXPECT_EQ(session_.append("dynamic_events", "-:g/*"), "ok");
  EXPECT_EQ(session_.append("kprobe_events", "-:h/*"), "ok");
  EXPECT_EQ(session_.cat("dynamic_events"), "(empty)");
}

TEST_F(ProbeFilesTest, TheErrorLogSaysWhyAPatternIsRefusedOrWhatIsLeftOut) {
  EXPECT_EQ(define("p:g/* libc.so.6:lt_no_such_*"), "-ENOENT");
  EXPECT_EQ(define("p:g/* libc.so.6:qsort* n=%nosuch"), "-EINVAL");
  EXPECT_EQ(session_.cat("error_log"),
            "[TS] trace_uprobe: error: No function fits 'lt_no_such_*'\n"
            "  Command: p:g/* libc.so.6:lt_no_such_*\n"
            "                           ^\n"
            "[TS] trace_uprobe: error: Invalid register name\n"
            "  Command: p:g/* libc.so.6:qsort* n=%nosuch\n"
            "                                    ^");
  ASSERT_EQ(define("r:g/* libc.so.6:vfork*"), "-EOPNOTSUPP");
  ASSERT_EQ(define("r:g/* libc.so.6:?fork"), "-EOPNOTSUPP");
  ASSERT_EQ(define("r:g/* libc.so.6:*fork"), "ok");
  EXPECT_EQ(listed().find("vfork"), std::string::npos) << listed();
  EXPECT_NE(session_.cat("error_log").find(" left out: "), std::string::npos);
}

TEST_F(ProbeFilesTest, AnUnknownSymbolIsAnsweredAsByTheKernel) {
  EXPECT_EQ(define("p:g/e /bin/true:lt_none"), "-EINVAL");
  EXPECT_EQ(define("p:g/e /nosuch/file:lt_none"), "-EINVAL");
  EXPECT_EQ(define("p:* /bin/true:0x40"), "-EINVAL");
  EXPECT_EQ(session_.append("kprobe_events", "p:g/* lt_none:f*"), "-EINVAL");
  EXPECT_EQ(session_.append("kprobe_events", "p:g/e lt_none:f*"), "ok");
  EXPECT_EQ(session_.cat("error_log"),
            "[TS] trace_uprobe: error: Event name must follow the same rules as C identifiers\n"
            "  Command: p:* /bin/true:0x40\n"
            "             ^\n"
            "[TS] trace_kprobe: error: Event name must follow the same rules as C identifiers\n"
            "  Command: p:g/* lt_none:f*\n"
            "               ^");
}

TEST_F(ProbeFilesTest, AHistogramMayHaveWhatAFunctionReturned) {
  ASSERT_EQ(define("r:g/r " + at("40") + " v=$retval:s32"), "ok");
  ASSERT_EQ(session_.put("events/g/r/trigger", "hist:keys=v"), "ok");
  EXPECT_EQ(session_.append("uprobe_events", "-:g/r"), "-EBUSY");
  EXPECT_EQ(session_.put("events/g/r/inject", "v=7"), "ok");
  const std::string table = session_.cat("events/g/r/hist");
  EXPECT_NE(table.find("{ v:          7 } hitcount:          1"), std::string::npos) << table;
}

}  // namespace
}  // namespace landtrace::tracefs
