#include "fleet/parse_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace landtrace::fleet {
namespace {

std::string nested(std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST(ParseJsonTest, AFewLevelsAreTaken) {
  EXPECT_EQ(parse_json(R"({"a":[1,{"b":"]"}]})")["a"][1]["b"], "]");
  EXPECT_FALSE(parse_json(nested(32)).is_discarded());
  EXPECT_FALSE(parse_json("[" + nested(31) + "," + nested(31) + "]").is_discarded()) << "one beside the other";
}

TEST(ParseJsonTest, WhatIsNestedWithoutEndIsNot) {
  EXPECT_TRUE(parse_json(nested(33)).is_discarded());
  EXPECT_TRUE(parse_json(nested(500'000)).is_discarded());
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += R"({"a":)";
  EXPECT_TRUE(is_nested_too_deep(objects));
}

TEST(ParseJsonTest, BracketsInTextsAreNoLevels) {
  const std::string brackets(100, '[');
  EXPECT_EQ(parse_json(R"(["\"\\)" + brackets + R"("])")[0], "\"\\" + brackets);
  EXPECT_TRUE(parse_json(R"(["\\",)" + nested(100) + "]").is_discarded());
}

TEST(ParseJsonTest, WhatMakesNoSenseIsDiscarded) {
  for (const char* const text : {"", "[", "]", "{\"a\"}", "\"", "\"\\"})
    EXPECT_TRUE(parse_json(text).is_discarded()) << text;
}

}  // namespace
}  // namespace landtrace::fleet
