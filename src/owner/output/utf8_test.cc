#include "output/utf8.hpp"

#include <gtest/gtest.h>

namespace landtrace::output {
namespace {

TEST(Utf8, WhatIsNoneIsReplacedByteByByte) {
  EXPECT_EQ(valid_utf8("plain"), "plain");
  EXPECT_EQ(valid_utf8("\xc3\xa4\xff\xfe-\xc3"), "\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd-\xef\xbf\xbd");
}

TEST(Utf8, ControlCharactersAreWrittenAsInC) {
  std::string text = "a\nb";
  escape_controls(text, 0);
  EXPECT_EQ(text, "a\\nb");
  text = "x\ty\n\x1b[1m\x7f\xc3\xa4\n";
  escape_controls(text, 2);
  EXPECT_EQ(text, "x\ty\\n\\x1b[1m\\x7f\xc3\xa4\\n") << "what stands before is left alone";
}

}  // namespace
}  // namespace landtrace::output
