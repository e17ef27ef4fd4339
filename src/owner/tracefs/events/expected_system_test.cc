// What a reader finds that starts before the programs that register events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tracefs/test_session.hpp"

namespace landtrace::tracefs {
namespace {

constexpr const char* kEnable = "events/user_events/enable";

class ExpectedSystemTest : public ::testing::Test {
 protected:
  void make(const std::string& declaration) { ASSERT_EQ(session_.append("dynamic_events", declaration), "ok"); }

  TestSession session_;
};

TEST_F(ExpectedSystemTest, ADomainWithoutEventsHasASystem) {
  EXPECT_EQ(session_.list("events"), "enable\nftrace\nheader_event\nheader_page\nuser_events");
  EXPECT_EQ(session_.list("events/user_events"), "enable\nfilter");
  EXPECT_EQ(session_.cat(kEnable), "0");
  make("s:made u64 n");
  EXPECT_EQ(session_.list("events/user_events"), "-ENOENT") << "as in the kernel, where there are others";
}

TEST_F(ExpectedSystemTest, EventsThatComeAreEnabledIfItWas) {
  ASSERT_EQ(session_.put(kEnable, "1"), "ok");
  EXPECT_EQ(session_.cat(kEnable), "1");
  make("u:e1 u32 n");
  make("s:made u64 n");
  EXPECT_EQ(session_.cat("set_event"), "user_events:e1");
  ASSERT_EQ(session_.put(kEnable, "0"), "ok");
  make("u:e2 u32 n");
  EXPECT_EQ(session_.cat("set_event"), "(empty)");
}

TEST_F(ExpectedSystemTest, ItCanBeTakenBack) {
  for (const char* const file : {kEnable, "events/enable", "set_event"}) {
    ASSERT_EQ(session_.put(kEnable, "1"), "ok");
    ASSERT_EQ(session_.put(file, std::string_view(file) == "set_event" ? "" : "0"), "ok");
    EXPECT_EQ(session_.cat(kEnable), "0") << file;
  }
  make("u:e1 u32 n");
  EXPECT_EQ(session_.cat("set_event"), "(empty)");
}

TEST_F(ExpectedSystemTest, InstancesExpectOnTheirOwn) {
  ASSERT_EQ(session_("mkdir instances/foo"), "ok");
  ASSERT_EQ(session_.put("instances/foo/events/user_events/enable", "1"), "ok");
  EXPECT_EQ(session_.cat(kEnable), "0");
  make("u:e1 u32 n");
  EXPECT_EQ(session_.cat("instances/foo/set_event"), "user_events:e1");
  EXPECT_EQ(session_.cat("set_event"), "(empty)");
}

}  // namespace
}  // namespace landtrace::tracefs
