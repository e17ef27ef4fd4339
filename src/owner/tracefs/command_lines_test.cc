#include "tracefs/command_lines.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace landtrace::tracefs {
namespace {

const domain::Turn kLong{std::chrono::hours(1)};

TEST(CommandLines, AreRunUntilOneFails) {
  std::vector<std::string> seen;
  const auto run = [&](std::string_view line) -> Result<void> {
    seen.emplace_back(line);
    if (line == "bad") return fail(ENOENT);
    return {};
  };
  EXPECT_EQ(*run_lines("a\n\nb # why\nlast", run, kLong), 15u);
  EXPECT_EQ(seen, (std::vector<std::string>{"a", "", "b ", "last"}));
  seen.clear();
  EXPECT_EQ(run_lines("a\nbad\nb\n", run, kLong).error().code, ENOENT);
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_EQ(run_lines(std::string(4095, 'x') + '\n', run, kLong).error().code, EINVAL);
}

TEST(CommandLines, OneIsRunInATurnThatIsOverAtOnce) {
  unsigned seen = 0;
  const auto run = [&](std::string_view) -> Result<void> { return ++seen == 3 ? fail(ENOENT) : Result<void>(); };
  const domain::Turn over(std::chrono::microseconds(0));
  EXPECT_EQ(*run_lines("a\nbb\nccc", run, over), 2u);
  EXPECT_EQ(*run_lines("bb\nccc", run, over), 3u);
  EXPECT_EQ(run_lines("ccc", run, over).error().code, ENOENT);
  EXPECT_EQ(*run_lines("ccc", run, over), 3u);
}

TEST(CommandLines, OneThatCannotBeRunYetIsRunAgain) {
  bool is_ready = false;
  const auto run = [&](std::string_view line) -> Result<void> {
    return line == "late" && !is_ready ? fail(kNotYet) : Result<void>();
  };
  EXPECT_EQ(*run_lines("a\nlate\nb\n", run, kLong), 2u);
  EXPECT_EQ(*run_lines("late\nb\n", run, kLong), 0u);
  is_ready = true;
  EXPECT_EQ(*run_lines("late\nb\n", run, kLong), 7u);
}

}  // namespace
}  // namespace landtrace::tracefs
