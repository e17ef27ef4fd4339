#include "cli/histogram/key.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

namespace landtrace::cli {
namespace {

using ipc::KeyKind;

HistKey made(const ipc::HistogramKey& key, std::uint64_t number, const std::string& text = "") {
  return typed_key(key, {number, text, {}});
}

std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

TEST(HistKeyTest, ANumberHasItsSign) {
  EXPECT_EQ(made({KeyKind::kUnsigned, "k"}, ~0ull).text, "18446744073709551615");
  const HistKey negative = made({KeyKind::kSigned, "k", 0, 32}, ~0ull);
  EXPECT_EQ(negative.text, "-1");
  EXPECT_TRUE(negative.is_number);
  EXPECT_EQ(std::get<std::int64_t>(negative.value), -1);
}

TEST(HistKeyTest, ARealNumberHasTheFewestDecimalsThatNameIt) {
  EXPECT_EQ(made({KeyKind::kFloat, "k"}, std::bit_cast<std::uint32_t>(0.1f)).text, "0.1");
  EXPECT_EQ(std::get<double>(made({KeyKind::kFloat, "k"}, std::bit_cast<std::uint32_t>(0.1f)).value), 0.1);
  EXPECT_EQ(made({KeyKind::kDouble, "k"}, bits_of(-2.5e-300)).text, "-2.5e-300");
  EXPECT_EQ(made({KeyKind::kDouble, "k"}, bits_of(std::numeric_limits<double>::infinity())).text, "inf");
}

TEST(HistKeyTest, NumbersAreInTheOrderOfNumbers) {
  EXPECT_TRUE(made({KeyKind::kUnsigned, "k"}, 9) < made({KeyKind::kUnsigned, "k"}, 10));
  EXPECT_TRUE(made({KeyKind::kSigned, "k", 0, 64}, ~0ull) < made({KeyKind::kSigned, "k", 0, 64}, 0));
  EXPECT_TRUE(made({KeyKind::kHex, "k"}, 0x9) < made({KeyKind::kHex, "k"}, 0x10));
  EXPECT_TRUE(made({KeyKind::kLog2, "k"}, 9) < made({KeyKind::kLog2, "k"}, 10));
  EXPECT_TRUE(made({KeyKind::kRange, "k", 5}, 95) < made({KeyKind::kRange, "k", 5}, 100));
  EXPECT_TRUE(made({KeyKind::kDouble, "k"}, bits_of(-2.5)) < made({KeyKind::kDouble, "k"}, bits_of(-1)));
  EXPECT_TRUE(made({KeyKind::kText, "k"}, 0, "10") < made({KeyKind::kText, "k"}, 0, "9")) << "a text is none";
}

TEST(HistKeyTest, AnyRealNumbersHaveAnOrder) {
  std::vector<HistKey> keys;
  for (const double value : {std::nan(""), 1.0, -std::nan(""), 0.0, -0.0, std::nan("")}) {
    keys.push_back(made({KeyKind::kDouble, "k"}, bits_of(value)));
  }
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(keys.at(1).text, "-0");
  EXPECT_EQ(keys.at(2).text, "0");
  EXPECT_EQ(keys.at(3).text, "1");
  EXPECT_FALSE(keys.at(4) < keys.at(5) || keys.at(5) < keys.at(4));
}

TEST(HistKeyTest, GroupsOfNumbersSayWhetherThereAreNegativeOnes) {
  EXPECT_EQ(made({KeyKind::kLog2, "k", 0, 32}, 0).text, "<= 1");
  EXPECT_EQ(made({KeyKind::kLog2, "k", 0, 32}, 31).text, "~ 2^31");
  EXPECT_EQ(made({KeyKind::kLog2, "k"}, 0).text, "~ 2^0");
  const ipc::HistogramKey range{KeyKind::kRange, "k", 10, 32};
  EXPECT_EQ(made(range, 20).text, "~ 20-29");
  EXPECT_EQ(made(range, 0xffff'ffe0).text, "~ -32--23");
  EXPECT_EQ(made(range, 0xffff'fffa).text, "~ -6--1") << "the last one ends with the largest number without a sign";
  EXPECT_TRUE(made(range, 0xffff'fffa) < made(range, 0));
  EXPECT_FALSE(made(range, 20).is_number);
}

TEST(HistKeyTest, HexadecimalsHaveNoMoreDigitsThanTheField) {
  EXPECT_EQ(made({KeyKind::kHex, "k", 0, 16}, ~0ull).text, "ffff");
  EXPECT_EQ(made({KeyKind::kHex, "k", 0, 64}, ~0ull).text, "ffffffffffffffff");
  EXPECT_EQ(made({KeyKind::kHex, "k"}, 0xabc).text, "abc");
}

TEST(HistKeyTest, ATextKeepsItsSpaces) { EXPECT_EQ(made({KeyKind::kText, "k"}, 0, " a ").text, " a "); }

TEST(HistKeyTest, ANumberOfSoManyBitsGetsItsSignBack) {
  EXPECT_EQ(with_sign(0xff, 8), -1);
  EXPECT_EQ(with_sign(0x7f, 8), 127);
  EXPECT_EQ(with_sign(~0ull, 64), -1);
  EXPECT_EQ(with_sign(5, 0), 5);
}

}  // namespace
}  // namespace landtrace::cli
