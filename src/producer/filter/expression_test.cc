// Which expressions there are, how their parts belong together, and what is said about those that are none.
#include <gtest/gtest.h>

#include <cerrno>

#include "filter/test_event.hpp"
#include "filter/text.hpp"

namespace landtrace::filter {
namespace {

const TestEvent kEvent("u32 n;s32 s;u64 q;char[8] str;__data_loc char[] dyn;struct big t 12");

bool passes_n(std::string_view expression, std::uint32_t n, std::int32_t s = 0) {
  std::string payload = bytes_of(n, s, std::uint64_t{0});
  payload.resize(40);
  return passes(kEvent, expression, payload);
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
  EXPECT_EQ(kEvent.failure("n == 4 || n == 5 &&"), (Failure{EINVAL, FailureKind::kUnspecified, 0}));
}

TEST(Expression, LongOnesAreProgramsOfTheirLength) {
  std::string expression = "n==0";
  while (expression.size() + 6 <= kMaxExpression) expression += "||n==1";
  EXPECT_TRUE(passes_n(expression, 1));
  EXPECT_FALSE(passes_n(expression, 2));
  EXPECT_EQ(kEvent.failure(expression + "||n==1"), (Failure{EINVAL, FailureKind::kUnspecified, 0}));
}

TEST(Expression, ParenthesesMayBeAsDeepAsTheyFit) {
  const std::size_t depth = (kMaxExpression - 4) / 2;
  EXPECT_TRUE(passes_n(std::string(depth, '(') + "n==5" + std::string(depth, ')'), 5));
}

TEST(Expression, NothingIsRefusedWithoutAWord) {
  for (const char* text : {"", "   ", "()", "(( ))"}) {
    EXPECT_EQ(kEvent.failure(text), (Failure{EINVAL, FailureKind::kUnspecified, 0})) << text;
  }
  for (const char* text : {"&& n == 5", "(n == 5 && )", "()n == 5", "n == 5 && && s == 1", "!= 5", "\"n\" == 5"}) {
    EXPECT_EQ(kEvent.failure(text), (Failure{EPERM, FailureKind::kUnspecified, 0})) << text;
  }
  EXPECT_EQ(kEvent.failure("!!"), (Failure{EINVAL, FailureKind::kNoFilter, 2}));
}

TEST(Expression, ParenthesesAndQuotesMustBeClosed) {
  EXPECT_EQ(kEvent.failure("n == 5)"), (Failure{EPERM, FailureKind::kTooManyClose, 6}));
  EXPECT_EQ(kEvent.failure("(n == 5) && (s == 1"), (Failure{ENOENT, FailureKind::kTooManyOpen, 12}));
  EXPECT_EQ(kEvent.failure("((n == 5) && s == 1"), (Failure{ENOENT, FailureKind::kTooManyOpen, 0}));
  EXPECT_EQ(kEvent.failure("n == 1 && (s == 1 || (n == 2)"), (Failure{ENOENT, FailureKind::kTooManyOpen, 10}));
  EXPECT_EQ(kEvent.failure("str == \"a' && n == 1"), (Failure{ESRCH, FailureKind::kMissingQuote, 7}));
}

TEST(Expression, WhatStandsBetweenPredicatesMustBeAConnective) {
  EXPECT_EQ(kEvent.failure("n == 5 s == 1"), (Failure{EPERM, FailureKind::kTooManyPredicates, 7}));
  EXPECT_EQ(kEvent.failure("n == 5 (s == 1)"), (Failure{EPERM, FailureKind::kTooManyPredicates, 7}));
  EXPECT_EQ(kEvent.failure("(n == 5) | s == 1"), (Failure{EPERM, FailureKind::kTooManyPredicates, 9}));
  EXPECT_EQ(kEvent.failure("str == \"a\"\"b\""), (Failure{EPERM, FailureKind::kTooManyPredicates, 10}));
}

TEST(Expression, FieldsHaveToExist) {
  EXPECT_EQ(kEvent.failure("nosuch == 1"), (Failure{EINVAL, FailureKind::kFieldNotFound, 7}));
  EXPECT_EQ(kEvent.failure("N == 1"), (Failure{EINVAL, FailureKind::kFieldNotFound, 2}));
  EXPECT_EQ(kEvent.failure("n == 1 && x.y == 1"), (Failure{EINVAL, FailureKind::kFieldNotFound, 12}));
}

TEST(Expression, OperatorsHaveToSuitTheValue) {
  EXPECT_EQ(kEvent.failure("n"), (Failure{EINVAL, FailureKind::kInvalidOperator, 2}));
  EXPECT_EQ(kEvent.failure("n = 5"), (Failure{EINVAL, FailureKind::kInvalidOperator, 3}));
  EXPECT_EQ(kEvent.failure("n.other == 5"), (Failure{EINVAL, FailureKind::kInvalidOperator, 2}));
  EXPECT_EQ(kEvent.failure("n ~ 5"), (Failure{EINVAL, FailureKind::kIllegalFieldOperator, 5}));
  EXPECT_EQ(kEvent.failure("str < \"a\""), (Failure{EINVAL, FailureKind::kIllegalFieldOperator, 7}));
  EXPECT_EQ(kEvent.failure("str & \"a\""), (Failure{EINVAL, FailureKind::kIllegalFieldOperator, 7}));
  EXPECT_EQ(kEvent.failure("n == \"5\""), (Failure{EINVAL, FailureKind::kExpectDigit, 6}));
  EXPECT_EQ(kEvent.failure("CPU == \"5\""), (Failure{EINVAL, FailureKind::kExpectDigit, 8}));
  EXPECT_EQ(kEvent.failure("stacktrace == \"5\""), (Failure{EINVAL, FailureKind::kExpectDigit, 15}));
  EXPECT_EQ(kEvent.failure("str == 5"), (Failure{EINVAL, FailureKind::kExpectString, 8}));
  EXPECT_EQ(kEvent.failure("comm == 5"), (Failure{EINVAL, FailureKind::kExpectString, 9}));
  EXPECT_EQ(kEvent.failure("str == bare"), (Failure{EINVAL, FailureKind::kInvalidValue, 8}));
}

TEST(Expression, NumbersHaveBasesAndLimits) {
  EXPECT_TRUE(passes_n("n == 0x1f", 31));
  EXPECT_TRUE(passes_n("n == 0X1F", 31));
  EXPECT_TRUE(passes_n("n == 017", 15));
  EXPECT_TRUE(passes_n("s == -0x10", 0, -16));
  EXPECT_TRUE(passes_n("n==00", 0));
  for (const char* value : {"08", "0x", "5u", "1e3", "18446744073709551616", "-1", "0xg"}) {
    EXPECT_EQ(kEvent.failure("n == " + std::string(value)), (Failure{EINVAL, FailureKind::kIllegalInteger, 6}))
        << value;
  }
  for (const char* value : {"-", "--1", "9223372036854775808", "-9223372036854775809"}) {
    EXPECT_EQ(kEvent.failure("s == " + std::string(value)), (Failure{EINVAL, FailureKind::kIllegalInteger, 6}))
        << value;
  }
  EXPECT_TRUE(fits("s == -9223372036854775808", kEvent.names()));
  EXPECT_TRUE(fits("q == 18446744073709551615", kEvent.names()));
}

TEST(Expression, OperandsMayNotBeTooLong) {
  EXPECT_TRUE(passes_n("n == 00000000000000000000005", 5));
  EXPECT_EQ(kEvent.failure("n == 000000000000000000000005"), (Failure{EINVAL, FailureKind::kOperandTooLong, 30}));
  const std::string text(255, 'x');
  EXPECT_TRUE(fits("str == \"" + text + "\"", kEvent.names()));
  EXPECT_EQ(kEvent.failure("str == \"" + text + "x\""), (Failure{EINVAL, FailureKind::kOperandTooLong, 265}));
}

TEST(Expression, CpuListsHaveBraces) {
  EXPECT_EQ(kEvent.failure("CPU & CPUS0"), (Failure{EINVAL, FailureKind::kMissingBraceOpen, 12}));
  EXPECT_EQ(kEvent.failure("CPU & CPUS{0"), (Failure{EINVAL, FailureKind::kMissingBraceClose, 13}));
  EXPECT_EQ(kEvent.failure("CPU & CPUS{}"), (Failure{EINVAL, FailureKind::kInvalidCpuList, 12}));
  EXPECT_EQ(kEvent.failure("CPU & CPUS{8}"), (Failure{EINVAL, FailureKind::kInvalidCpuList, 13}));
  EXPECT_EQ(kEvent.failure("CPU > CPUS{1}"), (Failure{EINVAL, FailureKind::kIllegalFieldOperator, 7}));
  EXPECT_EQ(kEvent.failure("str == CPUS{1}"), (Failure{EINVAL, FailureKind::kIllegalFieldOperator, 8}));
}

TEST(Expression, AnEventsFieldHidesACommonOneOfTheSameName) {
  const TestEvent event("u8 cpu;char[4] CPU");
  EXPECT_TRUE(passes(event, "cpu == 200 && CPU == \"abc\"", std::string("\xc8") + "abc" + '\0'));
}

TEST(Expression, FitsSaysWhetherAnEventHasTheFields) {
  EXPECT_TRUE(fits("n == 1 && common_pid != 0", kEvent.names()));
  EXPECT_FALSE(fits("n == 1 && m == 1", kEvent.names()));
  EXPECT_FALSE(fits("n == 1 &", kEvent.names()));
}

FailureKind kind_of(std::string_view expression) {
  const auto checked = check_expression(expression);
  return checked ? FailureKind::kUnspecified : checked.error().kind;
}

TEST(Expression, WithoutAnEventItIsOneIfSomeEventHasWhatItNames) {
  for (const char* expression :
       {"no == 5", "no == -5", "no ~ \"*x*\"", "no == \"x\" || (other & 4)", "comm == 5", "CPU == \"x\"",
        "cpus & CPUS{0-3}", "ip.function == main", "p.ustring == \"x\"", "!(a < 1 && b >= 0x10)"}) {
    EXPECT_TRUE(check_expression(expression)) << expression;
  }
}

TEST(Expression, WithoutAnEventItIsNoneIfNoEventCanHaveIt) {
  EXPECT_EQ(kind_of("n == \"x"), FailureKind::kMissingQuote);
  EXPECT_EQ(kind_of("(n == 5"), FailureKind::kTooManyOpen);
  EXPECT_EQ(kind_of("n == x"), FailureKind::kInvalidValue);
  EXPECT_EQ(kind_of("n = 5"), FailureKind::kInvalidOperator);
  EXPECT_EQ(kind_of("n ~ 5"), FailureKind::kIllegalFieldOperator);
  EXPECT_EQ(kind_of("n < \"x\""), FailureKind::kIllegalFieldOperator);
  EXPECT_EQ(kind_of("n == 5x"), FailureKind::kIllegalInteger);
  EXPECT_EQ(kind_of("n == CPUS{x}"), FailureKind::kInvalidCpuList);
}

TEST(Expression, AMistakeHasAPlace) {
  const auto place = [](std::string_view expression) {
    return expression.substr(index_of_mistake(check_expression(expression).error(), expression));
  };
  EXPECT_EQ(place("n == 5 && m == x"), "x");
  EXPECT_EQ(place("n == 5 && m = 7"), "= 7");
  EXPECT_EQ(place("n == 5 && m == \"x"), "\"x");
  EXPECT_EQ(place("n == 5) && m == 5"), ") && m == 5");
  EXPECT_EQ(place("n =="), "");
}

}  // namespace
}  // namespace landtrace::filter
