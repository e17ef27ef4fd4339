#include "base/digits.hpp"

#include <gtest/gtest.h>

#include <charconv>
#include <limits>
#include <string>
#include <vector>

namespace landtrace {
namespace {

template <typename T>
std::string expected(T number, int base) {
  char text[80];
  return {text, std::to_chars(text, text + sizeof text, number, base).ptr};
}

template <typename T>
void compare(T number) {
  char text[80];
  EXPECT_EQ(std::string(text, put_decimal(text, number)), expected(number, 10));
  using Unsigned = std::make_unsigned_t<T>;
  EXPECT_EQ(std::string(text, put_hex(text, number)), expected(static_cast<Unsigned>(number), 16));
}

// Around each power of two and of ten.
std::vector<std::uint64_t> edges() {
  std::vector<std::uint64_t> all{0, 1, 5, 9, 10, 11, std::numeric_limits<std::uint64_t>::max()};
  for (int bit = 0; bit < 64; ++bit) {
    for (const int off : {-1, 0, 1}) all.push_back((1ull << bit) + off);
  }
  std::uint64_t power = 1;
  for (int i = 0; i < 19; ++i) {
    power *= 10;
    for (const int off : {-1, 0, 1}) all.push_back(power + off);
  }
  return all;
}

TEST(DigitsTest, NumbersOfEverySizeAreThoseOfTheStandardLibrary) {
  for (const std::uint64_t number : edges()) {
    compare(number);
    compare(static_cast<std::int64_t>(number));
    compare(static_cast<std::uint32_t>(number));
    compare(static_cast<std::int32_t>(number));
    compare(static_cast<std::uint16_t>(number));
    compare(static_cast<std::int16_t>(number));
    compare(static_cast<std::uint8_t>(number));
  }
}

TEST(DigitsTest, TheLengthIsThatOfTheText) {
  for (const std::uint64_t number : edges()) {
    EXPECT_EQ(decimal_digits(number), static_cast<int>(std::to_string(number).size())) << number;
  }
}

TEST(DigitsTest, ColumnsAreFilled) {
  char text[80];
  EXPECT_EQ(std::string(text, put_right(text, 42u, 5)), "   42");
  EXPECT_EQ(std::string(text, put_right(text, 7u, 3, '0')), "007");
  EXPECT_EQ(std::string(text, put_right(text, 123456u, 3)), "123456");
  EXPECT_EQ(std::string(text, put_left(text, -42, 5)), "-42  ");
  EXPECT_EQ(std::string(text, put_left(text, 123456, 3)), "123456");
}

}  // namespace
}  // namespace landtrace
