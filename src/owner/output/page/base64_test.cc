#include "output/page/base64.hpp"

#include <gtest/gtest.h>

namespace landtrace::output::page {
namespace {

std::string base64(std::string_view bytes) {
  std::string text;
  append_base64(text, bytes);
  return text;
}

TEST(Base64Test, ThreeBytesAreFourCharactersAndTheRestIsPadded) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(Base64Test, AllDigitsOccur) { EXPECT_EQ(base64(std::string_view("\xff\xff\xfe\0\x10\x83", 6)), "///+ABCD"); }

TEST(Base64Test, WhatWasThereStays) {
  std::string text = "=";
  append_base64(text, "fo");
  EXPECT_EQ(text, "=Zm8=");
}

}  // namespace
}  // namespace landtrace::output::page
