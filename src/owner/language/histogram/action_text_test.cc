#include "language/histogram/action_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "language/histogram/operators.hpp"

namespace landtrace::language {
namespace {

using testing::ElementsAre;

const EventExists kOnlyStart = [](std::string_view system, std::string_view name) {
  return system == "user_events" && name == "start";
};

ActionText parsed_action(std::string_view text) {
  HistComplaints complaints;
  const auto action = parse_action(text, kOnlyStart, complaints);
  EXPECT_TRUE(action) << text;
  return action.value_or(ActionText());
}

// The one mistake, or the errno where nothing is said.
std::optional<HistMistake> mistake_in(std::string_view text) {
  HistComplaints complaints;
  const auto action = parse_action(text, kOnlyStart, complaints);
  EXPECT_FALSE(action) << text;
  return complaints.all().empty() ? std::nullopt : std::optional(complaints.all().front().mistake);
}

TEST(HistAction, IsAHandlerAndADeed) {
  const ActionText traced = parsed_action("onmatch(user_events.start).trace(lat, id ,$xx)");
  EXPECT_EQ(traced.handler, hist::Handler::kOnMatch);
  EXPECT_EQ(traced.deed, hist::Deed::kTrace);
  EXPECT_EQ(traced.match_event, "start");
  EXPECT_EQ(traced.synthetic, "lat");
  EXPECT_TRUE(traced.has_keyword);
  EXPECT_THAT(traced.params, ElementsAre("id", "$xx"));

  const ActionText named = parsed_action("onmax($d).lat(id");
  EXPECT_EQ(named.synthetic, "lat");
  EXPECT_EQ(named.tracked, "$d");
  EXPECT_EQ(parsed_action("onchange($d).snapshot()").deed, hist::Deed::kSnapshot);
  EXPECT_EQ(parsed_action("onchange($d).save(rc)").deed, hist::Deed::kSave);
}

TEST(HistAction, SaysWhatIsMissing) {
  EXPECT_EQ(mistake_in("onmatch(user_events.start"), HistMistake::kNoClosingParen);
  EXPECT_EQ(mistake_in("onmatch(start).lat(id)"), HistMistake::kSubsystemMissing);
  EXPECT_EQ(mistake_in("onmatch(user_events.end).lat(id)"), HistMistake::kInvalidEvent);
  EXPECT_EQ(mistake_in("onmatch(user_events.start)"), HistMistake::kActionNotFound);
  EXPECT_EQ(mistake_in("onmatch(user_events.start).lat"), HistMistake::kActionNotFound);
  EXPECT_EQ(mistake_in("onmatch(user_events.start).lat(a)"), HistMistake::kInvalidParam);
  EXPECT_EQ(mistake_in("onmatch(user_events.start).snapshot()"), HistMistake::kActionMismatch);
  EXPECT_EQ(mistake_in("onmax($d).save()"), HistMistake::kInvalidParam);
  EXPECT_EQ(mistake_in("onmax($d).snapshot("), HistMistake::kNoClosingParen);
  EXPECT_EQ(mistake_in("onmax($d"), std::nullopt);
  std::string many = "onmax($d).lat(";
  for (int i = 0; i < 65; ++i) many += "ab,";
  EXPECT_EQ(mistake_in(many), HistMistake::kTooManyParams);
}

TEST(HistOperators, CutAtTheLastOfTheWeakest) {
  const auto cut = [](std::string_view text) {
    const HistCut found = cut_of(text);
    return std::pair(found.op, found.at);
  };
  EXPECT_EQ(cut("abc"), std::pair(HistOperator::kNone, std::size_t{0}));
  EXPECT_EQ(cut("a-b-c"), std::pair(HistOperator::kSubtract, std::size_t{3}));
  EXPECT_EQ(cut("a-b+c*d"), std::pair(HistOperator::kAdd, std::size_t{3}));
  EXPECT_EQ(cut("a/b*c"), std::pair(HistOperator::kMultiply, std::size_t{3}));
  EXPECT_EQ(cut("a*b/c"), std::pair(HistOperator::kDivide, std::size_t{3}));
  EXPECT_EQ(cut("-(a)+b"), std::pair(HistOperator::kNegate, std::size_t{0}));
  EXPECT_EQ(cut("-(a)-b"), std::pair(HistOperator::kSubtract, std::size_t{4}));
  EXPECT_EQ(combined(HistOperator::kSubtract, 1, 2), ~0ull);
  EXPECT_EQ(combined(HistOperator::kDivide, 7, 2), 3u);
  EXPECT_EQ(combined(HistOperator::kDivide, 10, 255), 1u);
}

}  // namespace
}  // namespace landtrace::language
