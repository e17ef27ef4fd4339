#include "output/visible.hpp"

#include <gtest/gtest.h>

namespace landtrace::output {
namespace {

TEST(VisibleTest, ControlCharactersAreWrittenAsInC) {
  EXPECT_EQ(visible("\x1b[2J", Lines::kNone), "\\x1b[2J");
  EXPECT_EQ(visible("a\nb\tc\rd\x7f\x01", Lines::kNone), "a\\nb\\tc\\rd\\x7f\\x01");
  EXPECT_EQ(visible(std::string_view("a\0b", 3), Lines::kNone), "a\\x00b");
}

TEST(VisibleTest, OfALayoutNewlinesAndTabsAreKept) {
  EXPECT_EQ(visible("a\n\tb\r\x1b\n", Lines::kKept), "a\n\tb\\r\\x1b\n");
}

TEST(VisibleTest, ATerminalTakesSomeForControlCharactersInUtf8AndBeforeIt) {
  EXPECT_EQ(visible("\xc2\x9b"
                    "2J",
                    Lines::kNone),
            "\\u009b2J");
  EXPECT_EQ(visible("\x9b"
                    "2J",
                    Lines::kNone),
            "\\x9b2J");
  EXPECT_EQ(visible("\xc3\x9b", Lines::kNone), "\xc3\x9b") << "a letter that ends in the same byte";
}

TEST(VisibleTest, OtherTextsAreAsTheyWere) {
  for (const char* const text :
       {"", "plain \\ \"text\"", "gr\xc3\xbc\xc3\x9f", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xff"}) {
    EXPECT_EQ(visible(text, Lines::kNone), text);
  }
}

TEST(VisibleTest, ACutCharacterHidesNothing) {
  EXPECT_EQ(visible("\xe2\x82", Lines::kNone), "\xe2\\x82");
  EXPECT_EQ(visible("\xf0\x9f\x1b", Lines::kNone), "\xf0\\x9f\\x1b");
}

TEST(VisibleTest, ARecordIsALine) {
  EXPECT_EQ(visible_record("x-1 job: name=a\n x-1 job: name=b\n", false), "x-1 job: name=a\\n x-1 job: name=b\n");
  EXPECT_EQ(visible_record("x-1 job: name=a\n\n", false), "x-1 job: name=a\\n\n");
  EXPECT_EQ(visible_record("no end\x1b", false), "no end\\x1b");
  EXPECT_EQ(visible_record("", false), "");
}

TEST(VisibleTest, AStackHasALineForEachFrame) {
  EXPECT_EQ(visible_record("x-1 <user stack trace>\n => f\n => g\x1b\n", true),
            "x-1 <user stack trace>\n => f\n => g\\x1b\n");
  EXPECT_EQ(visible_record("x-1 wake: a=1\n2 st=STACK:\n=> 0x1\n=> 0x2\n name=a\nb\n", true),
            "x-1 wake: a=1\\n2 st=STACK:\n=> 0x1\n=> 0x2\n name=a\\nb\n");
}

}  // namespace
}  // namespace landtrace::output
