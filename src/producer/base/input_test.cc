#include "base/input.hpp"

#include <gtest/gtest.h>

#include "base/character.hpp"

namespace landtrace {
namespace {

using namespace std::string_literals;

TEST(Characters, AreThoseOfLatin1) {
  EXPECT_TRUE(is_space('\xa0'));
  EXPECT_TRUE(is_letter('\xe4'));
  EXPECT_FALSE(is_letter('\xd7'));
  EXPECT_FALSE(is_letter('\xf7'));
  EXPECT_FALSE(is_letter('_'));
  EXPECT_FALSE(is_alnum('\xaa'));
  EXPECT_FALSE(is_printable(0x9f));
  EXPECT_TRUE(is_printable(0xa0));
}

TEST(Numbers, AreReadAsTheKernelReadsThem) {
  EXPECT_EQ(*number_in("1\n"), 1u);
  EXPECT_EQ(*number_in("1\0x"s), 1u);
  EXPECT_EQ(*number_in("+7"), 7u);
  EXPECT_EQ(*number_in("0x1f"), 31u);
  EXPECT_EQ(*number_in("010"), 8u);
  EXPECT_EQ(*number_in("010", 10), 10u);
  for (const char* const bad : {"", "\n", " 1", "1 ", "1\n\n", "-1", "x", "0x", "08", "++1"}) {
    EXPECT_EQ(number_in(bad).error().code, EINVAL) << bad;
  }
  EXPECT_EQ(number_in("0x1", 10).error().code, EINVAL);
  EXPECT_EQ(number_in("18446744073709551616").error().code, ERANGE);
}

}  // namespace
}  // namespace landtrace
