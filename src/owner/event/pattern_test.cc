#include "event/pattern.hpp"

#include <gtest/gtest.h>

namespace landtrace::event {
namespace {

bool matches(const char* pattern, const char* system, const char* name) {
  const auto parsed = Pattern::parse(pattern);
  EXPECT_TRUE(parsed) << pattern;
  return parsed && parsed->matches(system, name);
}

TEST(PatternTest, SystemAndEventAreGlobs) {
  EXPECT_TRUE(matches("user_events:*", "user_events", "e1"));
  EXPECT_FALSE(matches("user_events:*", "user_events_multi", "e1.0"));
  EXPECT_TRUE(matches("user_events*:e?", "user_events_multi", "e1"));
  EXPECT_TRUE(matches("*:req_[ds]one", "user_events", "req_done"));
  EXPECT_FALSE(matches("*:req_[ds]one", "user_events", "req_gone"));
}

TEST(PatternTest, WithoutAColonItNamesAnEventOrASystem) {
  EXPECT_TRUE(matches("e1", "user_events", "e1"));
  EXPECT_TRUE(matches("user_events", "user_events", "e1"));
  EXPECT_FALSE(matches("e1", "user_events", "e2"));
}

TEST(PatternTest, NothingAfterTheColonIsTheWholeSystem) { EXPECT_TRUE(matches("user_events:", "user_events", "e1")); }

TEST(PatternTest, BadPatternsSayWhatIsWrong) {
  for (const char* bad : {"", ":e1", "user_events:[ab", "a b", "a;b", "x\n"}) {
    const auto parsed = Pattern::parse(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, EINVAL);
    EXPECT_NE(parsed.error().message.find("pattern '"), std::string::npos);
  }
}

}  // namespace
}  // namespace landtrace::event
