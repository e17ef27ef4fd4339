#include "language/words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace landtrace::language {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Words, AreTakenOneByOneWithTheSeparatorBehind) {
  const auto first = language::next_word(" \tsched:switch next\n");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->text, "sched:switch");
  EXPECT_EQ(first->taken, 15u);
  EXPECT_EQ(language::next_word("last")->taken, 4u);
}

TEST(Words, WhiteSpaceAloneIsTakenAndIsNoWord) {
  EXPECT_EQ(language::next_word("  \n")->text, "");
  EXPECT_EQ(language::next_word("  \n")->taken, 3u);
  EXPECT_EQ(language::next_word("")->taken, 0u);
}

TEST(Words, ANulEndsOne) {
  const std::string text = "e1\0e2"s;
  const auto word = language::next_word(text);
  EXPECT_EQ(word->text, "e1");
  EXPECT_EQ(word->taken, 3u);
}

TEST(Words, OfMoreThan127BytesAreRefused) {
  EXPECT_TRUE(language::next_word(std::string(127, 'a')));
  EXPECT_EQ(language::next_word(std::string(128, 'a')).error().code, EINVAL);
}

TEST(Words, ASpaceOfLatin1IsOne) {
  const std::string text = "\xa0x\xa0y";
  EXPECT_EQ(next_word(text)->text, "x");
  EXPECT_THAT(split_words(text), ElementsAre("x", "y"));
}

TEST(Words, OfALineStandBetweenWhiteSpace) {
  EXPECT_THAT(split_words(" e:g/n \t sys.event\v x=$a\n"), ElementsAre("e:g/n", "sys.event", "x=$a"));
  EXPECT_THAT(split_words(" \n"), IsEmpty());
  EXPECT_THAT(split_words(""), IsEmpty());
}

TEST(Words, PartsMayBeEmpty) {
  EXPECT_THAT(parts_of("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(parts_of("", ','), ElementsAre(""));
}

TEST(Words, WhatNoSeparatorEndsIsTheLast) {
  std::optional<std::string_view> text = "snapshot:1 if x";
  EXPECT_EQ(take_until(text, ": \t"), "snapshot");
  EXPECT_EQ(text, "1 if x");
  EXPECT_EQ(take_until(text, "("), "1 if x");
  EXPECT_EQ(text, std::nullopt);
  text = "a:";
  EXPECT_EQ(take_until(text, ":"), "a");
  EXPECT_EQ(text, "");
}

TEST(Words, TakenWhileTheyAreWanted) {
  std::string_view text = "12ab";
  EXPECT_EQ(take_while(text, is_digit), "12");
  EXPECT_EQ(take_while(text, is_digit), "");
  EXPECT_EQ(text, "ab");
}

}  // namespace
}  // namespace landtrace::language
