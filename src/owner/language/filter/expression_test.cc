// Which expressions there are, how their parts belong together, and what is said about those that are none.
#include <gtest/gtest.h>

#include <cerrno>

#include "filter/test_event.hpp"
#include "language/filter/text.hpp"

namespace landtrace::language {
namespace {

using filter::bytes_of;
using filter::passes;
using filter::TestEvent;

const TestEvent kEvent("u32 n;s32 s;u64 q;char[8] str;__data_loc char[] dyn;struct big t 12");

bool passes_n(std::string_view expression, std::uint32_t n, std::int32_t s = 0) {
  std::string payload = bytes_of(n, s, std::uint64_t{0});
  payload.resize(40);
  return filter::passes(kEvent, expression, payload);
}

TEST(Expression, AndBindsTighterThanOr) {
  EXPECT_TRUE(passes_n("n == 1 || n == 2 && s == 9", 1));
  EXPECT_FALSE(passes_n("n == 1 || n == 2 && s == 9", 2));
  EXPECT_TRUE(passes_n("s == 9 && n == 2 || n == 1", 1));
}

TEST(Expression, NotAppliesToTheNextPredicateOrParenthesis) {
  EXPECT_TRUE(passes_n("!n == 5 && s == 0", 4));
  EXPECT_FALSE(passes_n("!n == 5 && s == 1", 4));
  EXPECT_TRUE(passes_n("!(n == 5 && s == 1)", 5));
  EXPECT_TRUE(passes_n("!!n == 5", 5));
  EXPECT_TRUE(passes_n("! ! ! ( n == 5 ) || s == 1", 4));
  EXPECT_TRUE(passes_n("!(!(n == 5) && !(n == 6))", 6));
}

TEST(Expression, AnOperatorAtTheEndDoesNotCount) {
  EXPECT_TRUE(passes_n("n == 5 &&", 5));
  EXPECT_TRUE(passes_n("n == 5 || ", 5));
  EXPECT_TRUE(passes_n("n == 5 && !", 5));
  EXPECT_TRUE(passes_n("n == 4 || n == 5 ||", 5));
  EXPECT_TRUE(passes_n("n == 5 && s == 0 ||", 5));
}

TEST(Expression, AnAndAtTheEndBehindAnOrIsRefusedWithoutAWord) {
  EXPECT_EQ(kEvent.failure("n == 4 || n == 5 &&"), (FilterFailure{EINVAL, FilterFailureKind::kUnspecified, 0}));
}

TEST(Expression, LongOnesAreProgramsOfTheirLength) {
  std::string expression = "n==0";
  while (expression.size() + 6 <= kMaxFilter) expression += "||n==1";
  EXPECT_TRUE(passes_n(expression, 1));
  EXPECT_FALSE(passes_n(expression, 2));
  EXPECT_EQ(kEvent.failure(expression + "||n==1"), (FilterFailure{EINVAL, FilterFailureKind::kUnspecified, 0}));
}

TEST(Expression, ParenthesesMayBeAsDeepAsTheyFit) {
  const std::size_t depth = (kMaxFilter - 4) / 2;
  EXPECT_TRUE(passes_n(std::string(depth, '(') + "n==5" + std::string(depth, ')'), 5));
}

TEST(Expression, NothingIsRefusedWithoutAWord) {
  for (const char* text : {"", "   ", "()", "(( ))"}) {
    EXPECT_EQ(kEvent.failure(text), (FilterFailure{EINVAL, FilterFailureKind::kUnspecified, 0})) << text;
  }
  for (const char* text : {"&& n == 5", "(n == 5 && )", "()n == 5", "n == 5 && && s == 1", "!= 5", "\"n\" == 5"}) {
    EXPECT_EQ(kEvent.failure(text), (FilterFailure{EPERM, FilterFailureKind::kUnspecified, 0})) << text;
  }
  EXPECT_EQ(kEvent.failure("!!"), (FilterFailure{EINVAL, FilterFailureKind::kNoFilter, 2}));
}

TEST(Expression, ParenthesesAndQuotesMustBeClosed) {
  EXPECT_EQ(kEvent.failure("n == 5)"), (FilterFailure{EPERM, FilterFailureKind::kTooManyClose, 6}));
  EXPECT_EQ(kEvent.failure("(n == 5) && (s == 1"), (FilterFailure{ENOENT, FilterFailureKind::kTooManyOpen, 12}));
  EXPECT_EQ(kEvent.failure("((n == 5) && s == 1"), (FilterFailure{ENOENT, FilterFailureKind::kTooManyOpen, 0}));
  EXPECT_EQ(kEvent.failure("n == 1 && (s == 1 || (n == 2)"),
            (FilterFailure{ENOENT, FilterFailureKind::kTooManyOpen, 10}));
  EXPECT_EQ(kEvent.failure("str == \"a' && n == 1"), (FilterFailure{ESRCH, FilterFailureKind::kMissingQuote, 7}));
}

TEST(Expression, WhatStandsBetweenPredicatesMustBeAConnective) {
  EXPECT_EQ(kEvent.failure("n == 5 s == 1"), (FilterFailure{EPERM, FilterFailureKind::kTooManyPredicates, 7}));
  EXPECT_EQ(kEvent.failure("n == 5 (s == 1)"), (FilterFailure{EPERM, FilterFailureKind::kTooManyPredicates, 7}));
  EXPECT_EQ(kEvent.failure("(n == 5) | s == 1"), (FilterFailure{EPERM, FilterFailureKind::kTooManyPredicates, 9}));
  EXPECT_EQ(kEvent.failure("str == \"a\"\"b\""), (FilterFailure{EPERM, FilterFailureKind::kTooManyPredicates, 10}));
}

TEST(Expression, FieldsHaveToExist) {
  EXPECT_EQ(kEvent.failure("nosuch == 1"), (FilterFailure{EINVAL, FilterFailureKind::kFieldNotFound, 7}));
  EXPECT_EQ(kEvent.failure("N == 1"), (FilterFailure{EINVAL, FilterFailureKind::kFieldNotFound, 2}));
  EXPECT_EQ(kEvent.failure("n == 1 && x.y == 1"), (FilterFailure{EINVAL, FilterFailureKind::kFieldNotFound, 12}));
}

TEST(Expression, OperatorsHaveToSuitTheValue) {
  EXPECT_EQ(kEvent.failure("n"), (FilterFailure{EINVAL, FilterFailureKind::kInvalidOperator, 2}));
  EXPECT_EQ(kEvent.failure("n = 5"), (FilterFailure{EINVAL, FilterFailureKind::kInvalidOperator, 3}));
  EXPECT_EQ(kEvent.failure("n.other == 5"), (FilterFailure{EINVAL, FilterFailureKind::kInvalidOperator, 2}));
  EXPECT_EQ(kEvent.failure("n ~ 5"), (FilterFailure{EINVAL, FilterFailureKind::kIllegalFieldOperator, 5}));
  EXPECT_EQ(kEvent.failure("str < \"a\""), (FilterFailure{EINVAL, FilterFailureKind::kIllegalFieldOperator, 7}));
  EXPECT_EQ(kEvent.failure("str & \"a\""), (FilterFailure{EINVAL, FilterFailureKind::kIllegalFieldOperator, 7}));
  EXPECT_EQ(kEvent.failure("n == \"5\""), (FilterFailure{EINVAL, FilterFailureKind::kExpectDigit, 6}));
  EXPECT_EQ(kEvent.failure("CPU == \"5\""), (FilterFailure{EINVAL, FilterFailureKind::kExpectDigit, 8}));
  EXPECT_EQ(kEvent.failure("stacktrace == \"5\""), (FilterFailure{EINVAL, FilterFailureKind::kExpectDigit, 15}));
  EXPECT_EQ(kEvent.failure("str == 5"), (FilterFailure{EINVAL, FilterFailureKind::kExpectString, 8}));
  EXPECT_EQ(kEvent.failure("comm == 5"), (FilterFailure{EINVAL, FilterFailureKind::kExpectString, 9}));
  EXPECT_EQ(kEvent.failure("str == bare"), (FilterFailure{EINVAL, FilterFailureKind::kInvalidValue, 8}));
}

TEST(Expression, NumbersHaveBasesAndLimits) {
  EXPECT_TRUE(passes_n("n == 0x1f", 31));
  EXPECT_TRUE(passes_n("n == 0X1F", 31));
  EXPECT_TRUE(passes_n("n == 017", 15));
  EXPECT_TRUE(passes_n("s == -0x10", 0, -16));
  EXPECT_TRUE(passes_n("n==00", 0));
  for (const char* value : {"08", "0x", "5u", "1e3", "18446744073709551616", "-1", "0xg"}) {
    EXPECT_EQ(kEvent.failure("n == " + std::string(value)),
              (FilterFailure{EINVAL, FilterFailureKind::kIllegalInteger, 6}))
        << value;
  }
  for (const char* value : {"-", "--1", "9223372036854775808", "-9223372036854775809"}) {
    EXPECT_EQ(kEvent.failure("s == " + std::string(value)),
              (FilterFailure{EINVAL, FilterFailureKind::kIllegalInteger, 6}))
        << value;
  }
  EXPECT_TRUE(filter_fits("s == -9223372036854775808", kEvent.names()));
  EXPECT_TRUE(filter_fits("q == 18446744073709551615", kEvent.names()));
}

TEST(Expression, OperandsMayNotBeTooLong) {
  EXPECT_TRUE(passes_n("n == 00000000000000000000005", 5));
  EXPECT_EQ(kEvent.failure("n == 000000000000000000000005"),
            (FilterFailure{EINVAL, FilterFailureKind::kOperandTooLong, 30}));
  const std::string text(255, 'x');
  EXPECT_TRUE(filter_fits("str == \"" + text + "\"", kEvent.names()));
  EXPECT_EQ(kEvent.failure("str == \"" + text + "x\""),
            (FilterFailure{EINVAL, FilterFailureKind::kOperandTooLong, 265}));
}

TEST(Expression, CpuListsHaveBraces) {
  EXPECT_EQ(kEvent.failure("CPU & CPUS0"), (FilterFailure{EINVAL, FilterFailureKind::kMissingBraceOpen, 12}));
  EXPECT_EQ(kEvent.failure("CPU & CPUS{0"), (FilterFailure{EINVAL, FilterFailureKind::kMissingBraceClose, 13}));
  EXPECT_EQ(kEvent.failure("CPU & CPUS{}"), (FilterFailure{EINVAL, FilterFailureKind::kInvalidCpuList, 12}));
  EXPECT_EQ(kEvent.failure("CPU & CPUS{8}"), (FilterFailure{EINVAL, FilterFailureKind::kInvalidCpuList, 13}));
  EXPECT_EQ(kEvent.failure("CPU > CPUS{1}"), (FilterFailure{EINVAL, FilterFailureKind::kIllegalFieldOperator, 7}));
  EXPECT_EQ(kEvent.failure("str == CPUS{1}"), (FilterFailure{EINVAL, FilterFailureKind::kIllegalFieldOperator, 8}));
}

TEST(Expression, AnEventsFieldHidesACommonOneOfTheSameName) {
  const TestEvent event("u8 cpu;char[4] CPU");
  EXPECT_TRUE(filter::passes(event, "cpu == 200 && CPU == \"abc\"", std::string("\xc8") + "abc" + '\0'));
}

TEST(Expression, FitsSaysWhetherAnEventHasTheFields) {
  EXPECT_TRUE(filter_fits("n == 1 && common_pid != 0", kEvent.names()));
  EXPECT_FALSE(filter_fits("n == 1 && m == 1", kEvent.names()));
  EXPECT_FALSE(filter_fits("n == 1 &", kEvent.names()));
}

FilterFailureKind kind_of(std::string_view expression) {
  const auto checked = check_filter(expression);
  return checked ? FilterFailureKind::kUnspecified : checked.error().kind;
}

TEST(Expression, WithoutAnEventItIsOneIfSomeEventHasWhatItNames) {
  for (const char* expression :
       {"no == 5", "no == -5", "no ~ \"*x*\"", "no == \"x\" || (other & 4)", "comm == 5", "CPU == \"x\"",
        "cpus & CPUS{0-3}", "ip.function == main", "p.ustring == \"x\"", "!(a < 1 && b >= 0x10)"}) {
    EXPECT_TRUE(check_filter(expression)) << expression;
  }
}

TEST(Expression, WithoutAnEventItIsNoneIfNoEventCanHaveIt) {
  EXPECT_EQ(kind_of("n == \"x"), FilterFailureKind::kMissingQuote);
  EXPECT_EQ(kind_of("(n == 5"), FilterFailureKind::kTooManyOpen);
  EXPECT_EQ(kind_of("n == x"), FilterFailureKind::kInvalidValue);
  EXPECT_EQ(kind_of("n = 5"), FilterFailureKind::kInvalidOperator);
  EXPECT_EQ(kind_of("n ~ 5"), FilterFailureKind::kIllegalFieldOperator);
  EXPECT_EQ(kind_of("n < \"x\""), FilterFailureKind::kIllegalFieldOperator);
  EXPECT_EQ(kind_of("n == 5x"), FilterFailureKind::kIllegalInteger);
  EXPECT_EQ(kind_of("n == CPUS{x}"), FilterFailureKind::kInvalidCpuList);
}

TEST(Expression, AMistakeHasAPlace) {
  const auto place = [](std::string_view expression) {
    return expression.substr(index_of_mistake(check_filter(expression).error(), expression));
  };
  EXPECT_EQ(place("n == 5 && m == x"), "x");
  EXPECT_EQ(place("n == 5 && m = 7"), "= 7");
  EXPECT_EQ(place("n == 5 && m == \"x"), "\"x");
  EXPECT_EQ(place("n == 5) && m == 5"), ") && m == 5");
  EXPECT_EQ(place("n =="), "");
  const auto place_of_field = [](std::string_view expression) {
    return expression.substr(begin_of_mistake(compile_filter(expression, {}).error(), expression));
  };
  EXPECT_EQ(place_of_field("no_such > 5"), "no_such > 5");
  EXPECT_EQ(place_of_field("!(CPU == 1 || nosuch==5)"), "nosuch==5)");
}

}  // namespace
}  // namespace landtrace::language
