#include "tracefs/command_lines.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace landtrace::tracefs {
namespace {

TEST(CommandLines, AreRunUntilOneFails) {
  std::vector<std::string> seen;
  const auto run = [&](std::string_view line) -> Result<void> {
    seen.emplace_back(line);
    if (line == "bad") return fail(ENOENT);
    return {};
  };
  EXPECT_EQ(*run_lines("a\n\nb # why\nlast", run), 15u);
  EXPECT_EQ(seen, (std::vector<std::string>{"a", "", "b ", "last"}));
  seen.clear();
  EXPECT_EQ(run_lines("a\nbad\nb\n", run).error().code, ENOENT);
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_EQ(run_lines(std::string(4095, 'x') + '\n', run).error().code, EINVAL);
}

}  // namespace
}  // namespace landtrace::tracefs
