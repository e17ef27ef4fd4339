// ftrace:print, which is what is written to trace_marker, with triggers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tracefs/test_session.hpp"

namespace landtrace::tracefs {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTrigger = "events/ftrace/print/trigger";
constexpr const char* kNoTrigger = "# Available triggers:";

class PrintTest : public ::testing::Test {
 protected:
  std::string write(std::string_view text) { return session_.write("trace_marker", text, 0); }
  std::string trace() { return session_.run({"trace"}).value(); }

  TestSession session_;
};

TEST_F(PrintTest, MarkersAreCountedByWhoWroteThem) {
  ASSERT_EQ(session_.append(kTrigger, "hist:keys=common_pid"), "ok");
  for (const char* const text : {"a", "b", "c"}) EXPECT_EQ(write(text), "ok");
  EXPECT_THAT(session_.cat("events/ftrace/print/hist"), HasSubstr("} hitcount:          3\n"));
  EXPECT_EQ(trace(), "tracing_mark_write: a\ntracing_mark_write: b\ntracing_mark_write: c");
  ASSERT_EQ(session_.append(kTrigger, "!hist:keys=common_pid"), "ok");
  EXPECT_THAT(session_.cat(kTrigger), HasSubstr(kNoTrigger));
  EXPECT_EQ(write("d"), "ok");
  EXPECT_THAT(trace(), HasSubstr("tracing_mark_write: d"));
}

TEST_F(PrintTest, TextsAreKeysAndWhatFiltersLookAtWithoutTheNewlineThatIsAdded) {
  ASSERT_EQ(session_.append(kTrigger, "hist:keys=buf if buf == \"go\" || buf ~ \"*the*\""), "ok");
  for (const char* const text : {"go", "gone", "go", "on the way", "go\n"}) EXPECT_EQ(write(text), "ok");
  const std::string text = session_.cat("events/ftrace/print/hist");
  EXPECT_THAT(text, HasSubstr("Hits: 3\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("buf: go +. hitcount: +2\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("buf: on the way +. hitcount: +1\n"));
}

TEST_F(PrintTest, OneStopsTracingBehindIt) {
  ASSERT_EQ(session_.append(kTrigger, "traceoff:1 if buf == \"stop\""), "ok");
  EXPECT_EQ(write("go"), "ok");
  EXPECT_EQ(write("stop"), "ok");
  EXPECT_EQ(write("more"), "-EBADF");
  EXPECT_EQ(trace(), "tracing_mark_write: go\ntracing_mark_write: stop");
  EXPECT_EQ(session_.cat(kTrigger), "traceoff:count=0 if buf == \"stop\"");
}

TEST_F(PrintTest, TheTimeBetweenTwoIsAnEvent) {
  ASSERT_EQ(session_.append("synthetic_events", "latency u64 lat; char[] what"), "ok");
  ASSERT_EQ(session_.put("events/synthetic/latency/enable", "1"), "ok");
  ASSERT_EQ(session_.append(kTrigger, "hist:keys=common_pid:ts0=common_timestamp.usecs if buf == \"start\""), "ok");
  ASSERT_EQ(session_.append(kTrigger, "hist:keys=common_pid:lat=common_timestamp.usecs-$ts0:"
                                      "onmatch(ftrace.print).latency($lat,buf) if buf == \"end\""), "ok");
  for (const char* const text : {"hello", "start", "end", "end"}) EXPECT_EQ(write(text), "ok");
  EXPECT_THAT(trace(), ::testing::MatchesRegex("tracing_mark_write: hello\ntracing_mark_write: start\n"
                                               "tracing_mark_write: end\nlatency: lat=[0-9]+ what=end\n"
                                               "tracing_mark_write: end"));
}

TEST_F(PrintTest, OneThatTakesASnapshotIsInIt) {
  ASSERT_EQ(session_.append(kTrigger, "snapshot"), "ok");
  for (const char* const text : {"1", "2", "3", "4"}) EXPECT_EQ(write(text), "ok");
  EXPECT_EQ(trace(), "tracing_mark_write: 1\ntracing_mark_write: 3");
  EXPECT_EQ(session_("trace snapshot"), "tracing_mark_write: 2\ntracing_mark_write: 4");
}

TEST_F(PrintTest, AStackStandsBelowIt) {
  ASSERT_EQ(session_.append(kTrigger, "stacktrace"), "ok");
  EXPECT_EQ(write("here"), "ok");
  EXPECT_THAT(trace(), HasSubstr("tracing_mark_write: here\n<user stack trace>"));
}

TEST_F(PrintTest, OneEnablesOtherEventsAndIsEnabledByNone) {
  ASSERT_EQ(session_.run({"reg", "a", "e1 u32 n"}), "ok index=0");
  ASSERT_EQ(session_.append(kTrigger, "enable_event:user_events:e1 if buf == \"on\""), "ok");
  EXPECT_EQ(session_("write a u32:1"), "ok 8");
  EXPECT_EQ(write("on"), "ok");
  EXPECT_EQ(session_("write a u32:2"), "ok 8");
  EXPECT_EQ(trace(), "tracing_mark_write: on\ne1: n=0x2 (2)");
  EXPECT_EQ(session_.append("events/user_events/e1/trigger", "disable_event:ftrace:print"), "-EINVAL");
  EXPECT_EQ(session_.append("set_event", "ftrace:print"), "-EINVAL");
  EXPECT_EQ(session_.append("dynamic_events", "e:p/marks ftrace.print"), "-ENODEV");
  EXPECT_THAT(session_.cat("available_events"), Not(HasSubstr("print")));
}

TEST_F(PrintTest, OneIsOfWhateverThreadAlsoWithTriggers) {
  ASSERT_EQ(session_.put("set_event_pid", "999999"), "ok");
  EXPECT_EQ(write("no trigger"), "ok");
  ASSERT_EQ(session_.append(kTrigger, "hist:keys=common_pid"), "ok");
  EXPECT_EQ(write("one"), "ok");
  ASSERT_EQ(session_.append("events/ftrace/print/inject", "buf = \"by hand\""), "ok");
  EXPECT_THAT(session_.cat("events/ftrace/print/hist"), HasSubstr("Hits: 2\n"));
  EXPECT_EQ(trace(), "tracing_mark_write: no trigger\ntracing_mark_write: one\ntracing_mark_write: by hand");
}

TEST_F(PrintTest, AHistogramThatIsClearedLeavesItsTableToOthers) {
  ASSERT_EQ(session_.append(kTrigger, "hist:keys=common_pid"), "ok");
  for (const char* const text : {"a", "b"}) EXPECT_EQ(write(text), "ok");
  ASSERT_EQ(session_.append(kTrigger, "hist:keys=common_pid:clear"), "ok");
  ASSERT_TRUE(session_.domain().grace().drain(std::chrono::seconds(60)));
  ASSERT_EQ(session_.run({"reg", "a", "e1 u32 n"}), "ok index=0");
  ASSERT_EQ(session_.append("events/user_events/e1/trigger", "hist:keys=common_pid"), "ok");
  EXPECT_EQ(write("c"), "ok");
  EXPECT_THAT(session_.cat("events/ftrace/print/hist"), HasSubstr("Hits: 1\n"));
  EXPECT_THAT(session_.cat("events/user_events/e1/hist"), HasSubstr("Hits: 0\n"));
}

TEST_F(PrintTest, EachInstanceHasItsOwn) {
  ASSERT_EQ(session_("mkdir instances/foo"), "ok");
  ASSERT_EQ(session_.append("instances/foo/events/ftrace/print/trigger", "traceoff"), "ok");
  EXPECT_THAT(session_.cat(kTrigger), HasSubstr(kNoTrigger));
  EXPECT_EQ(write("top"), "ok");
  EXPECT_EQ(session_.write("instances/foo/trace_marker", "foo", 0), "ok");
  EXPECT_EQ(session_("cat tracing_on"), "1");
  EXPECT_EQ(session_("cat instances/foo/tracing_on"), "0");
  EXPECT_EQ(session_("rmdir instances/foo"), "ok");
  EXPECT_EQ(write("top"), "ok");
}

TEST_F(PrintTest, ABufferOfAnotherSizeGoesOn) {
  ASSERT_EQ(session_.append(kTrigger, "hist:keys=common_pid"), "ok");
  ASSERT_EQ(session_("put buffer_size_kb 4096"), "ok");
  EXPECT_EQ(write("on"), "ok");
  EXPECT_EQ(trace(), "tracing_mark_write: on");
}

TEST_F(PrintTest, OneThatIsInjectedIsAsLongAsItsText) {
  EXPECT_EQ(session_.append("events/ftrace/print/inject", "ip = 1 buf = \"by hand\""), "ok");
  EXPECT_EQ(session_.append("events/ftrace/print/inject", "nosuch = 1"), "-ENOENT");
  EXPECT_EQ(trace(), "tracing_mark_write: by hand");
  ASSERT_EQ(session_.append(kTrigger, "traceoff if buf == \"stop\""), "ok");
  EXPECT_EQ(session_.append("events/ftrace/print/inject", "buf = \"stop\""), "ok");
  EXPECT_EQ(session_("cat tracing_on"), "0");
}

}  // namespace
}  // namespace landtrace::tracefs
