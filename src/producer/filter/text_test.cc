#include "filter/text.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace landtrace::filter {
namespace {

TEST(FilterText, AWriteLosesItsSpacesAtTheEndOnly) {
  EXPECT_EQ(read_written("  n == 5 \t\n").expression, "  n == 5");
  EXPECT_FALSE(read_written("  n == 5 \n").clears);
  EXPECT_EQ(read_written(std::string_view("n == 5\0 junk", 12)).expression, "n == 5");
}

TEST(FilterText, AZeroAloneClears) {
  EXPECT_TRUE(read_written("0\n").clears);
  EXPECT_TRUE(read_written("  0  ").clears);
  EXPECT_FALSE(read_written("00").clears);
  EXPECT_FALSE(read_written("").clears);
}

TEST(FilterText, AFailureStandsBelowItsExpression) {
  EXPECT_EQ(failed_filter_text("x == 1", {EINVAL, FailureKind::kFieldNotFound, 2}),
            "x == 1\n  ^\nparse_error: Field not found\n\n");
  EXPECT_EQ(failed_filter_text("(n == 1", {ENOENT, FailureKind::kTooManyOpen, 0}),
            "(n == 1\n^\nparse_error: Too many '('\n\n");
  EXPECT_EQ(failed_filter_text("n ==", {EINVAL, FailureKind::kInvalidValue, 5}),
            "n ==\n    ^\nparse_error: Invalid value (did you forget quotes)?\n\n");
  EXPECT_EQ(failed_filter_text("== 1", {EPERM, FailureKind::kUnspecified, 0}), "== 1\nError: (0)\n\n");
}

TEST(FilterText, TheErrorLogsCaretIsNotCutToTheExpression) {
  const auto parts = error_log_parts({EINVAL, FailureKind::kInvalidValue, 5});
  EXPECT_EQ(parts.message, "Invalid value (did you forget quotes)?");
  EXPECT_EQ(parts.caret, 5u);
  EXPECT_EQ(error_log_parts({EPERM, FailureKind::kUnspecified, 0}).message, "Error");
}

}  // namespace
}  // namespace landtrace::filter
