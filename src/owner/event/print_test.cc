#include "event/print.hpp"

#include <cstring>
#include <gtest/gtest.h>

namespace landtrace::event {
namespace {

std::string printed(std::string_view fields, std::string_view payload) {
  Declaration event;
  event.fields = *parse_fields(fields);
  std::string out;
  print_fields(out, event, std::as_bytes(std::span(payload)));
  return out;
}

template <typename T>
std::string bytes_of(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string location(std::uint32_t offset, std::uint32_t size) { return bytes_of(size << 16 | offset); }

TEST(PrintTest, EventWithoutFieldsSaysSo) { EXPECT_EQ(printed("", "abc"), "No fields found"); }

TEST(PrintTest, NumbersPrintBySizeNotBySign) {
  EXPECT_EQ(printed("s16 a", bytes_of<std::int16_t>(-9)), " a=0xfff7 (65527)");
  EXPECT_EQ(printed("u32 a", bytes_of(0xffffffffu)), " a=0xffffffff (-1)");
  EXPECT_EQ(printed("u64 a", bytes_of(std::uint64_t{0})), " a=0x0 (0)");
}

TEST(PrintTest, BytePrintsAsLatin1CharacterWhereItIsOne) {
  EXPECT_EQ(printed("u8 a", "B"), " a='B'(66)");
  EXPECT_EQ(printed("u8 a", " "), " a=' '(32)");
  EXPECT_EQ(printed("u8 a", "\x7f"), " a=(127)");
  EXPECT_EQ(printed("s8 a", "\x9f"), " a=(159)");
  EXPECT_EQ(printed("s8 a", "\xa0"), " a='\xa0'(160)");
}

TEST(PrintTest, TextEndsAtNulOrSize) {
  EXPECT_EQ(printed("char[4] a", std::string_view("ab\0d", 4)), " a=ab");
  EXPECT_EQ(printed("char[4] a", "abcdef"), " a=abcd");
  EXPECT_EQ(printed("char[2] a", "\xc3\xa4"), " a=\xc3\xa4") << "raw bytes, no conversion";
}

TEST(PrintTest, DataLocCountsFromTheEntry) {
  EXPECT_EQ(printed("__data_loc char[] a;u8 b", location(13, 3) + "B" + "hi" + '\0'), " a=hi b='B'(66)");
}

TEST(PrintTest, RelLocCountsFromTheEndOfTheField) {
  EXPECT_EQ(printed("__rel_loc char[] a;u8 b", location(1, 3) + "B" + "hi" + '\0'), " a=hi b='B'(66)");
}

TEST(PrintTest, DynamicBytesPrintInHex) {
  EXPECT_EQ(printed("__rel_loc u8[] a", location(0, 3) + "\x01\xff\x10"), " a=01,ff,10");
  EXPECT_EQ(printed("__rel_loc u8[] a", location(0, 0)), " a=");
}

TEST(PrintTest, StructPrintsAsANumberWhereItsSizeIsOne) {
  EXPECT_EQ(printed("struct s a 4", bytes_of(7)), " a=0x7 (7)");
  EXPECT_EQ(printed("struct s a 3", "abc"), " a=<INVALID-SIZE>");
}

TEST(PrintTest, FloatingPointIsOurExtension) {
  EXPECT_EQ(printed("struct float a 4", bytes_of(0.1f)), " a=0.1");
  EXPECT_EQ(printed("struct double a 8", bytes_of(-1e300)), " a=-1e+300");
  EXPECT_EQ(printed("struct float a 8", bytes_of(1.0)), " a=0x3ff0000000000000 (4607182418800017408)");
}

TEST(PrintTest, WhatLiesOutsideThePayloadOverflows) {
  EXPECT_EQ(printed("u32 a;u32 b", bytes_of(1)), " a=0x1 (1) b=<OVERFLOW>");
  EXPECT_EQ(printed("__rel_loc char[] a", location(0, 1)), " a=<OVERFLOW>");
  EXPECT_EQ(printed("__data_loc u8[] a", location(0xffff, 0xffff)), " a=<OVERFLOW>");
}

TEST(PrintTest, CommonHeaderIsNotPrinted) {
  EXPECT_EQ(printed("__data_loc u8[] a", location(0, 8)), " a=<OVERFLOW>");
  EXPECT_EQ(printed("__data_loc u8[] a", location(0, 0)), " a=");
}

}  // namespace
}  // namespace landtrace::event
