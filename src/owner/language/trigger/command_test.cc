#include "language/trigger/command.hpp"

#include <gtest/gtest.h>

namespace landtrace::language {
namespace {

// The command as the file would show it, or its errno.
std::string shown_trigger(std::string_view text) {
  const auto command = parse_trigger(text);
  if (!command) return std::to_string(command.error().code);
  const auto count = trigger_count(*command);
  if (!count) return std::to_string(count.error().code);
  const auto filter = trigger_filter(*command);
  if (!filter) return std::to_string(filter.error().code);
  return (command->removes ? "!" : "") + trigger_line(*command, *count, *filter);
}

const std::string kInvalid = std::to_string(EINVAL);

TEST(TriggerCommand, IsANameACountAndAFilter) {
  EXPECT_EQ(shown_trigger("traceoff\n"), "traceoff:unlimited\n");
  EXPECT_EQ(shown_trigger(" snapshot:1"), "snapshot:count=1\n");
  EXPECT_EQ(shown_trigger("traceoff:3 if n == 1"), "traceoff:count=3 if n == 1\n");
  EXPECT_EQ(shown_trigger("traceoff if  n == 1 "), "traceoff:unlimited if  n == 1\n");
  EXPECT_EQ(shown_trigger("traceoff: if n"), "traceoff:unlimited if n\n");
  EXPECT_EQ(shown_trigger("stacktrace 5"), "stacktrace:count=5\n");
  EXPECT_EQ(shown_trigger("traceoff:"), "traceoff:unlimited\n");
}

TEST(TriggerCommand, CountsInEveryBase) {
  EXPECT_EQ(shown_trigger("traceon:0x10"), "traceon:count=16\n");
  EXPECT_EQ(shown_trigger("traceon:010"), "traceon:count=8\n");
  EXPECT_EQ(shown_trigger("traceon:0"), "traceon:count=0\n");
  EXPECT_EQ(shown_trigger("traceon:18446744073709551615"), "traceon:unlimited\n");
  EXPECT_EQ(shown_trigger("traceon:18446744073709551616"), std::to_string(ERANGE));
  EXPECT_EQ(shown_trigger("traceon:5x"), kInvalid);
  EXPECT_EQ(shown_trigger("traceon:-1"), kInvalid);
}

TEST(TriggerCommand, NamesAnotherEvent) {
  EXPECT_EQ(shown_trigger("enable_event:user_events:e2"), "enable_event:user_events:e2:unlimited\n");
  EXPECT_EQ(shown_trigger("disable_event:s:e:2 if a > 1"), "disable_event:s:e:count=2 if a > 1\n");
  for (const char* bad : {"enable_event", "enable_event:e2", "enable_event:s:", "enable_event:s::5",
                          "enable_event::", "enable_event if n == 1", "enable_event:s:e:", "enable_event:s:e:x"}) {
    EXPECT_EQ(shown_trigger(bad), kInvalid) << bad;
  }
}

TEST(TriggerCommand, RefusesWhatIsNone) {
  for (const char* bad : {"", " ", "nosuch", "TRACEOFF", "!", "! traceoff", "!!traceoff", "traceoff if",
                          "traceoff n == 1", "traceoff iff n == 1", "traceon traceoff", "traceoff:x"}) {
    EXPECT_EQ(shown_trigger(bad), kInvalid) << bad;
  }
}

TEST(TriggerCommand, IsRemovedByItsNameWhateverFollows) {
  for (const char* text : {"!traceoff", "!traceoff:x", "!traceoff n == 1", "!traceoff:99999999999999999999"}) {
    const auto command = parse_trigger(text);
    ASSERT_TRUE(command) << text;
    EXPECT_TRUE(command->removes);
    EXPECT_EQ(command->kind, TriggerKind::kTraceOff);
  }
}

}  // namespace
}  // namespace landtrace::language
