#include "abi/validator.hpp"

#include <gtest/gtest.h>
#include <string>

#include "event/declaration.hpp"

namespace landtrace::abi {
namespace {

bool valid(std::string_view fields, const std::string& payload) {
  event::Declaration event;
  event.fields = *event::parse_fields(fields);
  const auto checks = event::dynamic_field_checks(event);
  return payload_is_valid(checks.data(), static_cast<std::uint32_t>(checks.size()), FlatPayload(payload.data()),
                          static_cast<std::uint32_t>(payload.size()));
}

std::string location(std::uint32_t offset, std::uint32_t size) {
  const std::uint32_t value = size << 16 | offset;
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

const std::string kNul(1, '\0');

TEST(DynamicFieldChecksTest, OnlyDynamicFieldsAreChecked) {
  const auto event = event::parse_declaration("e u32 a;char[4] b;struct s c 4;__rel_loc char[] d;__data_loc u8[] e");
  const auto checks = event::dynamic_field_checks(*event);
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[0].payload_offset, 12);
  EXPECT_EQ(checks[0].flags, DynamicFieldCheck::kRelative | DynamicFieldCheck::kTerminated);
  EXPECT_EQ(checks[1].payload_offset, 16);
  EXPECT_EQ(checks[1].flags, 0);
}

TEST(DynamicFieldChecksTest, LastPossibleFieldHasAnOffsetThatFits) {
  const auto event = event::parse_declaration("e struct s a 65532;__rel_loc u8[] b");
  ASSERT_TRUE(event);
  EXPECT_EQ(event::dynamic_field_checks(*event)[0].payload_offset, 65532);
}

TEST(ValidatorTest, EventWithoutDynamicFieldsIsAlwaysValid) {
  EXPECT_TRUE(payload_is_valid(nullptr, 0, FlatPayload(nullptr), 0));
}

TEST(ValidatorTest, DataMustEndWithinThePayload) {
  EXPECT_TRUE(valid("__data_loc u8[] a", location(12, 2) + "xy"));
  EXPECT_FALSE(valid("__data_loc u8[] a", location(12, 3) + "xy"));
  EXPECT_FALSE(valid("__data_loc u8[] a", location(0xffff, 0xffff)));
  EXPECT_TRUE(valid("__rel_loc u8[] a", location(0, 2) + "xy"));
  EXPECT_FALSE(valid("__rel_loc u8[] a", location(1, 2) + "xy"));
}

TEST(ValidatorTest, TextMustEndWithNul) {
  EXPECT_TRUE(valid("__rel_loc char[] a", location(0, 3) + "xy" + kNul));
  EXPECT_FALSE(valid("__rel_loc char[] a", location(0, 2) + "xy"));
}

TEST(ValidatorTest, EmptyTextNeedsANulBeforeIt) {
  EXPECT_TRUE(valid("__rel_loc char[] a", location(0, 0)));
  EXPECT_FALSE(valid("__rel_loc char[] a", location(1, 0) + "x"));
}

TEST(ValidatorTest, DataMayNotLieInTheCommonHeader) {
  EXPECT_FALSE(valid("__data_loc u8[] a", location(0, 8)));
  EXPECT_FALSE(valid("__data_loc char[] a", location(7, 2)));
  EXPECT_TRUE(valid("__data_loc char[] a", location(0, 0))) << "an empty string whose writer set nothing";
}

TEST(ValidatorTest, EveryFieldIsChecked) {
  EXPECT_FALSE(valid("__rel_loc u8[] a;__rel_loc u8[] b", location(4, 1) + location(1, 1) + "x"));
}

}  // namespace
}  // namespace landtrace::abi
