#include "output/json/string.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace landtrace::output::json {
namespace {

std::string as_json(std::string_view text) {
  std::string out;
  append_string(out, text);
  return out;
}

TEST(JsonStringTest, PlainText) { EXPECT_EQ(as_json("a b"), "\"a b\""); }

TEST(JsonStringTest, Escapes) { EXPECT_EQ(as_json("\"\\\n\t\x01\x7f"), R"("\"\\\n\t\u0001\u007f")"); }

TEST(JsonStringTest, Utf8Passes) { EXPECT_EQ(as_json("ä€\U0001f600z"), "\"ä€\U0001f600z\""); }

TEST(JsonStringTest, WhatControlsATerminalIsEscaped) {
  EXPECT_EQ(as_json("a\u009b2Jb\u0080\u009f\u00a0"), "\"a\\u009b2Jb\\u0080\\u009f\u00a0\"");
}

TEST(JsonStringTest, OtherBytesAreReplaced) {
  EXPECT_EQ(as_json("a\xff"
                    "b"),
            "\"a\ufffdb\"");
  EXPECT_EQ(as_json("\xe2\x82"), "\"\ufffd\ufffd\"");                      // cut off
  EXPECT_EQ(as_json("\xc0\xaf"), "\"\ufffd\ufffd\"");                      // overlong
  EXPECT_EQ(as_json("\xed\xa0\x80"), "\"\ufffd\ufffd\ufffd\"");            // a surrogate
  EXPECT_EQ(as_json("\xf4\x90\x80\x80"), "\"\ufffd\ufffd\ufffd\ufffd\"");  // above U+10FFFF
}

// nlohmann's parser refuses what is not UTF-8.
TEST(JsonStringTest, AnyPairOfBytesIsValidJson) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const std::string text{static_cast<char>(a), static_cast<char>(b), 'x'};
      ASSERT_TRUE(nlohmann::json::accept(as_json(text))) << a << " " << b;
    }
  }
}

}  // namespace
}  // namespace landtrace::output::json
