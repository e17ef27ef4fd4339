#include "output/page/column.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>

namespace landtrace::output::page {
namespace {

std::string bytes_of_column(std::initializer_list<std::int64_t> values) {
  Column column;
  for (const std::int64_t value : values) column.add(value);
  std::string out;
  column.append_to(out);
  return out;
}

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out += static_cast<char>(value);
  return out;
}

TEST(PageColumnTest, EqualValuesAreOne) {
  EXPECT_EQ(bytes_of_column({5, 5, 5}), bytes({0, 10}));
  EXPECT_EQ(bytes_of_column({-5}), bytes({0, 9}));
}

TEST(PageColumnTest, SmallValuesStandAsTheyAre) {
  EXPECT_EQ(bytes_of_column({0, -1, 1, 63, -64, 64}), bytes({1, 0, 1, 2, 126, 127, 128, 1}));
}

TEST(PageColumnTest, OfValuesThatGrowTheDifferencesStand) {
  EXPECT_EQ(bytes_of_column({1000, 1001, 1003, 1002}), bytes({2, 0xd0, 15, 2, 4, 1}));
}

TEST(PageColumnTest, WhatJavaScriptHasNoNumbersForHasEightBytes) {
  constexpr std::int64_t kWide = std::int64_t{1} << 51;
  EXPECT_EQ(bytes_of_column({1, kWide}), bytes({3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0}));
  EXPECT_EQ(bytes_of_column({-kWide})[0], 3);
  EXPECT_EQ(bytes_of_column({kWide - 1})[0], 0);
  EXPECT_EQ(bytes_of_column({1 - kWide, kWide - 1})[0], 1);
  EXPECT_EQ(bytes_of_column({INT64_MIN}), bytes({3, 0, 0, 0, 0, 0, 0, 0, 128}));
}

TEST(PageColumnTest, DoublesAreTheirBytes) {
  Column column(true);
  column.add_double(0.1);
  column.add_double(0.1);
  std::string out;
  column.append_to(out);
  ASSERT_EQ(out.size(), 17u);
  EXPECT_EQ(out[0], 4);
  double value = 0;
  std::memcpy(&value, out.data() + 9, sizeof value);
  EXPECT_EQ(value, 0.1);
}

TEST(PageColumnTest, MissingOnesHaveABitEach) {
  Column column;
  for (int i = 0; i < 10; ++i) {
    if (i == 1 || i == 9) {
      column.add_missing();
    } else {
      column.add(i);
    }
  }
  std::string out;
  column.append_to(out);
  EXPECT_EQ(out.substr(0, 3), bytes({16 + 1, 0b10, 0b10}));
  EXPECT_EQ(out.size(), 13u);
  column.clear();
  column.add(7);
  out.clear();
  column.append_to(out);
  EXPECT_EQ(out, bytes({0, 14}));
}

TEST(PageColumnTest, VarintsHaveSevenBitsAByte) {
  std::string out;
  append_varint(out, 0);
  append_varint(out, 127);
  append_varint(out, 128);
  append_varint(out, 300);
  EXPECT_EQ(out, bytes({0, 127, 128, 1, 0xac, 2}));
}

}  // namespace
}  // namespace landtrace::output::page
