// Texts have numbers, and what is known of them stays bounded.
#include "output/page/strings.hpp"

#include <gtest/gtest.h>

namespace landtrace::output::page {
namespace {

TEST(PageStrings, EachStandsOnceAndGoesByItsNumber) {
  Strings strings;
  EXPECT_FALSE(strings.has_new());
  EXPECT_EQ(strings.number("a"), 1u);
  EXPECT_EQ(strings.number(""), 2u);
  EXPECT_EQ(strings.number("a"), 1u);
  EXPECT_TRUE(strings.has_new());
  std::string out;
  strings.append_new(out);
  EXPECT_EQ(out, std::string("\2\1a\0", 4));
  EXPECT_FALSE(strings.has_new());
  EXPECT_EQ(strings.number("b"), 3u);
}

TEST(PageStrings, ManyTextsAreForgotten) {
  constexpr std::uint32_t kMost = 1u << 18;
  Strings strings;
  for (std::uint32_t i = 1; i <= kMost; ++i) ASSERT_EQ(strings.number(std::to_string(i)), i);
  EXPECT_EQ(strings.number("1"), 1u) << "so many are known";
  EXPECT_EQ(strings.number("one more"), kMost + 1);
  EXPECT_EQ(strings.number("1"), kMost + 2);
}

TEST(PageStrings, LongTextsAreForgotten) {
  const std::string half(8 << 20, 'x');
  Strings strings;
  EXPECT_EQ(strings.number(half + "1"), 1u);
  EXPECT_EQ(strings.number(half + "2"), 2u);
  EXPECT_EQ(strings.number(half + "1"), 1u);
  EXPECT_EQ(strings.number("behind 16 MiB"), 3u);
  EXPECT_EQ(strings.number(half + "1"), 4u);
}

}  // namespace
}  // namespace landtrace::output::page
