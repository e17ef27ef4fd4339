#include "filter/find_text.hpp"

#include <gtest/gtest.h>

#include <random>
#include <span>
#include <string>
#include <vector>

namespace landtrace::filter {
namespace {

bool holds(const std::string& text, const std::string& pattern) {
  // A block of its own, so that a sanitizer sees the first byte too many.
  const auto bytes = std::as_bytes(std::span(text));
  const std::vector<std::byte> block(bytes.begin(), bytes.end());
  return holds_text(block.data(), block.size(), reinterpret_cast<const std::byte*>(pattern.data()), pattern.size());
}

TEST(FindText, FindsAPatternAtEveryPlaceOfEveryLength) {
  for (std::size_t size = 0; size < 70; ++size) {
    for (std::size_t length = 1; length <= std::min<std::size_t>(size, 20); ++length) {
      const std::string pattern = std::string(length - 1, 'a') + 'b';
      for (std::size_t at = 0; at + length <= size; ++at) {
        std::string text(size, '.');
        text.replace(at, length, pattern);
        ASSERT_TRUE(holds(text, pattern)) << size << ' ' << at;
        text[at] = '-';
        ASSERT_FALSE(holds(text, pattern)) << size << ' ' << at;
      }
    }
  }
}

TEST(FindText, AgreesWithTheStandardLibraryOnTextsOfTwoLetters) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string text(random() % 80, 'a');
    for (char& c : text) c = random() % 3 == 0 ? 'b' : 'a';
    std::string pattern(random() % 9, 'a');
    for (char& c : pattern) c = random() % 3 == 0 ? 'b' : 'a';
    ASSERT_EQ(holds(text, pattern), text.find(pattern) != std::string::npos) << text << ' ' << pattern;
  }
}

TEST(FindText, NothingIsEverywhere) {
  EXPECT_TRUE(holds("", ""));
  EXPECT_TRUE(holds("abc", ""));
  EXPECT_FALSE(holds("ab", "abc"));
}

}  // namespace
}  // namespace landtrace::filter
