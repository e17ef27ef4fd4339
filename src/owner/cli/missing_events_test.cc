#include "cli/missing_events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace landtrace::cli {
namespace {

const std::vector<EventName> kEvents{{"user_events", "abi_request"}, {"user_events", "job"}, {"http", "request"}};

event::Pattern pattern(const std::string& text) { return *event::Pattern::parse(text); }

std::string instead_of(const std::string& text, const std::vector<EventName>& events = kEvents) {
  return instead_text(pattern(text), events);
}

TEST(MissingEventsTest, ANearNameIsSaidWithItsSystem) {
  EXPECT_EQ(instead_of("abi_requst"), "; did you mean user_events:abi_request?");
  EXPECT_EQ(instead_of("user_events:jbo"), "; did you mean user_events:job?");
  EXPECT_EQ(instead_of("user_event:job"), "; did you mean user_events:job?") << "another system";
  EXPECT_EQ(instead_of("htpp:request"), "; did you mean http:request?");
}

TEST(MissingEventsTest, ANameInSeveralSystemsIsSaidWithAll) {
  EXPECT_EQ(instead_of("jbo", {{"a", "job"}, {"b", "job"}}), "; did you mean a:job or b:job?");
}

TEST(MissingEventsTest, ASystemMayBeMistypedToo) {
  EXPECT_EQ(instead_of("user_evnets"), "; did you mean user_events:*?");
  EXPECT_EQ(instead_of("user_evnets:*"), "; did you mean user_events:*?");
  EXPECT_EQ(instead_of("http:zebra"), "; there is http:request, user_events:abi_request and user_events:job");
}

TEST(MissingEventsTest, WithoutANearNameAllAreSaid) {
  EXPECT_EQ(instead_of("zebra"), "; there is http:request, user_events:abi_request and user_events:job");
  EXPECT_EQ(instead_of("zebra", {{"user_events", "job"}}), "; there is user_events:job");
  EXPECT_EQ(instead_of("zebra", {{"user_events", "job"}, {"user_events", "job"}}), "; there is user_events:job");
  EXPECT_EQ(instead_of("zebra", {}), "; there is none at all");
}

TEST(MissingEventsTest, AnyNumberOfEventsMakesOneLine) {
  std::vector<EventName> many;
  for (int i = 100; i < 150; ++i) many.push_back({"s", "event" + std::to_string(i)});
  EXPECT_EQ(instead_of("zebra", many),
            "; there is s:event100, s:event101, s:event102, s:event103, s:event104, "
            "s:event105, s:event106, s:event107, s:event108 and 41 more");
}

TEST(MissingEventsTest, OnlyWhatMatchesNothingIsMissing) {
  const auto missing = unmatched(
      {pattern("job"), pattern("user_events"), pattern("http:*"), pattern("x*"), pattern("http:job")}, kEvents);
  ASSERT_EQ(missing.size(), 2u);
  EXPECT_EQ(missing[0].text(), "x*");
  EXPECT_EQ(missing[1].text(), "http:job");
}

TEST(MissingEventsTest, APatternIsNoName) {
  EXPECT_TRUE(is_name(pattern("job")));
  EXPECT_TRUE(is_name(pattern("user_events:job")));
  for (const char* const text : {"j*", "user_events:*", "j?b", "[j]ob"}) EXPECT_FALSE(is_name(pattern(text))) << text;
}

}  // namespace
}  // namespace landtrace::cli
