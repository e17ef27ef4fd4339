#include "fleet/left_out.hpp"

#include <gtest/gtest.h>

#include <span>

#include "abi/entry.hpp"
#include "event/probe_fields.hpp"

namespace landtrace::fleet {
namespace {

output::EventType type_of(const char* declaration) {
  output::EventType type{.id = 7, .system = "user_events", .name = "e", .declaration = {}, .format = {}};
  type.declaration = event::parse_declaration(declaration).value();
  return type;
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string word(std::uint64_t begin, std::uint64_t length) {
  const std::uint32_t number = abi::location_word(begin, length);
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

TEST(LeftOutTest, FieldsAreFoundByTheirNames) {
  const auto type = type_of("e u32 a; u32 ab");
  EXPECT_TRUE(has_one_of(type, {"x", "a"}));
  EXPECT_FALSE(has_one_of(type, {"b", "e", "A"}));
  EXPECT_FALSE(has_one_of(type, {}));
}

TEST(LeftOutTest, NumbersAreZeros) {
  EXPECT_EQ(text_of(without_fields(type_of("e u32 a; u32 b; char[4] c"), bytes_of("AAAABBBBcccc"), {"b"})),
            std::string("AAAA\0\0\0\0cccc", 12));
}

TEST(LeftOutTest, TextsAreEmpty) {
  const auto type = type_of("e __rel_loc char[] a; __data_loc char[] b; u8 n");
  const std::string payload =
      word(5, 4) + word(8 + 13, 4) + "n" + "aaa" + std::string(1, '\0') + "bbb" + std::string(1, '\0');
  // Relative to the end of its u32, which is at 4 of the payload.
  const std::string good = word(5, 4) + word(21, 4) + payload.substr(8);
  EXPECT_EQ(text_of(without_fields(type, bytes_of(good), {})), good);
  const std::string without_a = text_of(without_fields(type, bytes_of(good), {"a"}));
  EXPECT_EQ(without_a, std::string(4, '\0') + word(21, 4) + "n" + std::string(4, '\0') + good.substr(13));
  const std::string without_b = text_of(without_fields(type, bytes_of(good), {"b"}));
  EXPECT_EQ(without_b, word(5, 4) + std::string(4, '\0') + "naaa" + std::string(5, '\0'));
}

TEST(LeftOutTest, WhatNoFieldHasDoesNotTravel) {
  EXPECT_EQ(text_of(without_fields(type_of("e u32 a"), bytes_of("AAAAsecret"), {"x"})), "AAAA" + std::string(6, '\0'));
}

TEST(LeftOutTest, AnotherFieldsLocationDoesNotShowAField) {
  const auto type = type_of("e u64 secret; __data_loc char[] b");
  const std::string payload = "SECRETS!" + word(8, 8);
  EXPECT_EQ(text_of(without_fields(type, bytes_of(payload), {"secret"})), std::string(8, '\0') + word(8, 8));
}

TEST(LeftOutTest, WhatIsShorterThanItsFieldsIsNotReadBeyond) {
  const auto type = type_of("e u32 a; __rel_loc char[] b; __data_loc char[] c");
  const std::string payload = "AAAA" + word(0xffff, 0xffff) + word(0xffff, 0xffff);
  for (std::size_t size = 0; size <= payload.size(); ++size) {
    const std::string some = payload.substr(0, size);
    EXPECT_EQ(text_of(without_fields(type, bytes_of(some), {})), some);
  }
}

TEST(LeftOutTest, ArraysOfTextsOfProbesKeepTheirs) {
  const event::FetchType* const string = event::find_fetch_type("string");
  ASSERT_NE(string, nullptr);
  output::EventType type = type_of("e");
  type.declaration =
      event::lay_out_probe(event::Flavour::kEventProbe, "e", {event::probe_field(*string, 2, "texts")}, "a.b");
  const std::uint32_t offset = type.declaration.fields.at(0).offset;
  const std::string head(offset - abi::kEntryHeaderSize, '\0');
  const std::uint64_t behind = offset + 8;
  const std::string payload =
      head + word(behind, 3) + word(behind + 3, 3) + "ab" + std::string(1, '\0') + "cd" + std::string(1, '\0');
  EXPECT_EQ(text_of(without_fields(type, bytes_of(payload), {"other"})), payload);
  EXPECT_EQ(text_of(without_fields(type, bytes_of(payload), {"texts"})), std::string(payload.size(), '\0'));
}

}  // namespace
}  // namespace landtrace::fleet
