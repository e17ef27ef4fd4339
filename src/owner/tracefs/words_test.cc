#include "tracefs/words.hpp"

#include <gtest/gtest.h>

#include "tracefs/command_lines.hpp"
#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {
namespace {

using namespace std::string_literals;

TEST(Words, AreTakenOneByOneWithTheSeparatorBehind) {
  const auto first = next_word(" \tsched:switch next\n");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->text, "sched:switch");
  EXPECT_EQ(first->taken, 15u);
  EXPECT_EQ(next_word("last")->taken, 4u);
}

TEST(Words, WhiteSpaceAloneIsTakenAndIsNoWord) {
  EXPECT_EQ(next_word("  \n")->text, "");
  EXPECT_EQ(next_word("  \n")->taken, 3u);
  EXPECT_EQ(next_word("")->taken, 0u);
}

TEST(Words, ANulEndsOne) {
  const std::string text = "e1\0e2"s;
  const auto word = next_word(text);
  EXPECT_EQ(word->text, "e1");
  EXPECT_EQ(word->taken, 3u);
}

TEST(Words, OfMoreThan127BytesAreRefused) {
  EXPECT_TRUE(next_word(std::string(127, 'a')));
  EXPECT_EQ(next_word(std::string(128, 'a')).error().code, EINVAL);
}

TEST(Numbers, AreReadAsTheKernelReadsThem) {
  EXPECT_EQ(*number_in("1\n"), 1u);
  EXPECT_EQ(*number_in("1\0x"s), 1u);
  EXPECT_EQ(*number_in("+7"), 7u);
  EXPECT_EQ(*number_in("0x1f"), 31u);
  EXPECT_EQ(*number_in("010"), 8u);
  EXPECT_EQ(*number_in("010", 10), 10u);
  for (const char* const bad : {"", "\n", " 1", "1 ", "1\n\n", "-1", "x", "0x", "08", "++1"}) {
    EXPECT_EQ(number_in(bad).error().code, EINVAL) << bad;
  }
  EXPECT_EQ(number_in("0x1", 10).error().code, EINVAL);
  EXPECT_EQ(number_in("18446744073709551616").error().code, ERANGE);
}

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
