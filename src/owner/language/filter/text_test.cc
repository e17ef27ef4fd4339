#include "language/filter/text.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace landtrace::language {
namespace {

TEST(FilterText, AWriteLosesItsSpacesAtTheEndOnly) {
  EXPECT_EQ(read_written_filter("  n == 5 \t\n").expression, "  n == 5");
  EXPECT_FALSE(read_written_filter("  n == 5 \n").clears);
  EXPECT_EQ(read_written_filter(std::string_view("n == 5\0 junk", 12)).expression, "n == 5");
}

TEST(FilterText, AZeroAloneClears) {
  EXPECT_TRUE(read_written_filter("0\n").clears);
  EXPECT_TRUE(read_written_filter("  0  ").clears);
  EXPECT_FALSE(read_written_filter("00").clears);
  EXPECT_FALSE(read_written_filter("").clears);
}

TEST(FilterText, AFailureStandsBelowItsExpression) {
  EXPECT_EQ(failed_filter_text("x == 1", {EINVAL, FilterFailureKind::kFieldNotFound, 2}),
            "x == 1\n  ^\nparse_error: Field not found\n\n");
  EXPECT_EQ(failed_filter_text("(n == 1", {ENOENT, FilterFailureKind::kTooManyOpen, 0}),
            "(n == 1\n^\nparse_error: Too many '('\n\n");
  EXPECT_EQ(failed_filter_text("n ==", {EINVAL, FilterFailureKind::kInvalidValue, 5}),
            "n ==\n    ^\nparse_error: Invalid value (did you forget quotes)?\n\n");
  EXPECT_EQ(failed_filter_text("== 1", {EPERM, FilterFailureKind::kUnspecified, 0}), "== 1\nError: (0)\n\n");
}

TEST(FilterText, TheErrorLogsCaretIsNotCutToTheExpression) {
  const auto parts = filter_error_parts({EINVAL, FilterFailureKind::kInvalidValue, 5});
  EXPECT_EQ(parts.message, "Invalid value (did you forget quotes)?");
  EXPECT_EQ(parts.caret, 5u);
  EXPECT_EQ(filter_error_parts({EPERM, FilterFailureKind::kUnspecified, 0}).message, "Error");
}

}  // namespace
}  // namespace landtrace::language
