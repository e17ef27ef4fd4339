#include "reader/event_filter.hpp"

#include <gtest/gtest.h>

namespace landtrace::reader {
namespace {

output::EventType type(const char* system, const char* name) {
  output::EventType made;
  made.system = system;
  made.name = name;
  return made;
}

TEST(EventFilterTest, WithoutPatternsEverythingIsWanted) {
  const auto filter = EventFilter::parse({});
  ASSERT_TRUE(filter);
  EXPECT_TRUE(filter->wants_all());
  EXPECT_TRUE(filter->wants(type("a", "b")));
}

TEST(EventFilterTest, OneOfThePatternsMustMatch) {
  const auto filter = EventFilter::parse({"user_events:http_*", "sched:switch"});
  ASSERT_TRUE(filter);
  EXPECT_FALSE(filter->wants_all());
  EXPECT_EQ(filter->patterns().size(), 2u);
  EXPECT_TRUE(filter->wants(type("user_events", "http_get")));
  EXPECT_TRUE(filter->wants(type("sched", "switch")));
  EXPECT_FALSE(filter->wants(type("sched", "http_get")));
  EXPECT_FALSE(filter->wants(type("user_events", "job")));
}

TEST(EventFilterTest, ABadPatternIsRefusedWhereverItStands) {
  for (const std::vector<std::string>& patterns : {std::vector<std::string>{"a", ""}, {"[x"}, {"a b", "c"}}) {
    const auto filter = EventFilter::parse(patterns);
    ASSERT_FALSE(filter);
    EXPECT_EQ(filter.error().code, EINVAL);
    EXPECT_NE(filter.error().message, "");
  }
}

}  // namespace
}  // namespace landtrace::reader
