#include "cli/quantity.hpp"

#include <gtest/gtest.h>

namespace landtrace::cli {
namespace {

TEST(QuantityTest, SizesHaveASuffixOrAreBytes) {
  EXPECT_EQ(*parse_size("4096"), 4096u);
  EXPECT_EQ(*parse_size("512K"), 512u << 10);
  EXPECT_EQ(*parse_size("4m"), 4u << 20);
  EXPECT_EQ(*parse_size("2G"), 2ull << 30);
  EXPECT_EQ(*parse_size("3g"), 3ull << 30);
  EXPECT_EQ(*parse_size("1k"), 1024u);
  EXPECT_EQ(*parse_size("1"), 1u);
}

TEST(QuantityTest, TheLargestSizeIsWhatFits) {
  EXPECT_EQ(*parse_size("18446744073709551615"), ~0ull);
  EXPECT_EQ(*parse_size("17179869183G"), 17179869183ull << 30);
  EXPECT_FALSE(parse_size("17179869184G"));
}

TEST(QuantityTest, BadSizesAreRefusedByName) {
  for (const char* text :
       {"", "0", "0K", "K", "-1", "4MB", "4.5M", " 4M", "99999999999999999999", "18446744073709551615G"}) {
    const auto size = parse_size(text);
    ASSERT_FALSE(size) << text;
    EXPECT_EQ(size.error().code, EINVAL);
    EXPECT_NE(size.error().message.find("'" + std::string(text) + "'"), std::string::npos);
  }
}

TEST(QuantityTest, SecondsAreExactToTheNanosecond) {
  EXPECT_EQ(*parse_seconds("0"), 0u);
  EXPECT_EQ(*parse_seconds("12"), 12'000'000'000u);
  EXPECT_EQ(*parse_seconds("12.345678"), 12'345'678'000u);
  EXPECT_EQ(*parse_seconds("9999999.123456789"), 9'999'999'123'456'789u);
  EXPECT_EQ(*parse_seconds("0.000000001"), 1u);
  EXPECT_EQ(*parse_seconds("1.5"), 1'500'000'000u);
  EXPECT_EQ(*parse_seconds("18446744072"), 18'446'744'072'000'000'000u);
}

TEST(QuantityTest, BadTimesAreRefused) {
  for (const char* text :
       {"", ".", "1.", ".5", "-1", "1e3", "1.0000000001", "1.2.3", "soon", "18446744073", "99999999999999"}) {
    EXPECT_FALSE(parse_seconds(text)) << text;
  }
}

TEST(QuantityTest, NumbersForPeople) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(100), "100");
  EXPECT_EQ(count_text(~0ull), "18,446,744,073,709,551,615");
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(512), "512 B");
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(1024), "1.0 KiB");
  EXPECT_EQ(size_text(1 << 20), "1.0 MiB");
  EXPECT_EQ(size_text(5ull << 40), "5.0 TiB");
  EXPECT_EQ(size_text(3ull << 50), "3072.0 TiB") << "there is no unit above";
  EXPECT_EQ(size_text(4096), "4.0 KiB");
  EXPECT_EQ(size_text(1536ull << 20), "1.5 GiB");
}

}  // namespace
}  // namespace landtrace::cli
