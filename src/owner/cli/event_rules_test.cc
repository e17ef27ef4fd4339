#include "cli/event_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace landtrace::cli {
namespace {

using testing::ElementsAre;

// The selections that the words of a command line make, as "PATTERN|FILTER|TRIGGER...".
std::vector<std::string> rules(std::vector<const char*> words) {
  Program program("program", "", "");
  EventRules read;
  add_event_options(program.itself(), read);
  words.insert(words.begin(), "program");
  EXPECT_TRUE(program.parse(static_cast<int>(words.size()), words.data()));
  std::vector<std::string> texts;
  for (const auto& selection : read.selections()) {
    std::string text = selection.pattern + "|" + selection.filter;
    for (const std::string& trigger : selection.triggers) text += "|" + trigger;
    texts.push_back(text);
  }
  return texts;
}

TEST(EventRules, WithoutAnyAllUserEventsAreRecorded) { EXPECT_THAT(rules({}), ElementsAre("user_events:*|")); }

TEST(EventRules, BelongToThePatternBeforeThem) {
  EXPECT_THAT(rules({"-e", "a", "--filter", "n == 1", "-e", "b", "--trigger", "traceoff", "--trigger=traceon:1"}),
              ElementsAre("a|n == 1", "b||traceoff|traceon:1"));
}

TEST(EventRules, WithoutAPatternBeforeThemTheyAreForAllEvents) {
  EXPECT_THAT(rules({"--filter", "n == 1", "--trigger", "stacktrace"}), ElementsAre("user_events:*|n == 1|stacktrace"));
  EXPECT_THAT(rules({"--filter", "n == 1", "--trigger", "traceoff", "-e", "a", "-eb", "--filter", "m"}),
              ElementsAre("a|n == 1|traceoff", "b|(n == 1) && (m)|traceoff"));
}

TEST(EventRules, AllFiltersOfAPatternMustBeTrue) {
  EXPECT_THAT(rules({"-e", "a", "--filter", "x || y", "--filter", "z"}), ElementsAre("a|(x || y) && (z)"));
}

TEST(EventRules, AMistakeIsPointedAt) {
  const auto message = [](std::string filter, std::vector<std::string> triggers) {
    return check_event_rules({{"a", std::move(filter), std::move(triggers)}}).error().message;
  };
  EXPECT_EQ(message("n == x", {}), "--filter: Invalid value (did you forget quotes)?\n  n == x\n       ^");
  EXPECT_EQ(message("", {"traceoff:2 if n = 5"}),
            "--trigger: Invalid operator\n  traceoff:2 if n = 5\n                  ^");
  EXPECT_EQ(message("n == 5 &&& x", {}), "--filter: n == 5 &&& x: this is no filter expression");
  EXPECT_THAT(message("", {"snapshot"}), testing::HasSubstr("a recording has no snapshot"));
}

TEST(EventRules, WhatIsGoodIsNotRefused) {
  EXPECT_TRUE(
      check_event_rules({{"a", "n == 5 && s ~ \"x*\"", {"traceoff:2 if n == 5", "stacktrace", "hist:keys=n"}}}));
  EXPECT_TRUE(check_event_rules({}));
}

TEST(EventRules, BadPatternsAndTriggersAreNamed) {
  const auto code = [](const char* pattern, const char* trigger) {
    return check_event_rules({{pattern, "", {trigger}}}).error();
  };
  EXPECT_EQ(code("[a", "traceoff").code, EINVAL);
  EXPECT_THAT(code("a", "no_such_trigger").message, testing::StartsWith("--trigger: no_such_trigger: "));
  EXPECT_THAT(code("a", "traceoff:x").message, testing::StartsWith("--trigger: traceoff:x: "));
  EXPECT_THAT(code("a", "!traceoff").message, testing::HasSubstr("a recording begins without triggers"));
}

TEST(EventRules, EachSelectionIsChecked) {
  EXPECT_TRUE(check_event_rules({{"a", "", {}}, {"b", "n == 1", {}}}));
  EXPECT_FALSE(check_event_rules({{"a", "", {}}, {"b", "n == ", {}}}));
  EXPECT_FALSE(check_event_rules({{"a", "", {"traceoff", "nonsense"}}}));
}

TEST(EventRules, WhatDidNotFitIsToldWithItsReason) {
  EXPECT_EQ(unfit_text({"user_events:a", "n > 5", false, "Field not found"}),
            "the filter 'n > 5' does not fit user_events:a (Field not found): all of its events were recorded");
  EXPECT_EQ(unfit_text({"user_events:a", "hist:keys=x", true, "no field x"}),
            "user_events:a did not have the trigger 'hist:keys=x': no field x");
}

TEST(EventRules, LongRulesAreCutWhereTheyAreTold) {
  EXPECT_THAT(unfit_text({"e", std::string(80, 'x'), true, "r"}), testing::HasSubstr("'" + std::string(80, 'x') + "'"));
  EXPECT_THAT(unfit_text({"e", std::string(81, 'x'), true, "r"}),
              testing::HasSubstr("'" + std::string(77, 'x') + "...'"));
}

}  // namespace
}  // namespace landtrace::cli
