#include "event/declaration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace landtrace::event {
namespace {

Declaration parsed(std::string_view text) {
  auto declaration = parse_declaration(text);
  EXPECT_TRUE(declaration) << text;
  return declaration ? *std::move(declaration) : Declaration();
}

Field only_field(std::string_view text) {
  const auto fields = parse_fields(text);
  EXPECT_TRUE(fields && fields->size() == 1) << text;
  return fields && !fields->empty() ? fields->front() : Field();
}

int refusal(std::string_view text) {
  const auto declaration = parse_declaration(text);
  return declaration ? 0 : declaration.error().code;
}

TEST(DeclarationTest, FieldsFollowEachOtherWithoutPadding) {
  const auto event = parsed("e u8 a;u64 b;__rel_loc char[] c");
  ASSERT_EQ(event.fields.size(), 3u);
  EXPECT_EQ(event.fields[0].offset, abi::kEntryHeaderSize);
  EXPECT_EQ(event.fields[1].offset, 9u);
  EXPECT_EQ(event.fields[2].offset, 17u);
  EXPECT_EQ(event.min_size, 13u);
}

TEST(DeclarationTest, EventWithoutFieldsNeedsNoPayload) {
  for (const char* text : {"e", "e ", "e ;", "e ; ;;"}) {
    EXPECT_TRUE(parsed(text).fields.empty());
    EXPECT_EQ(parsed(text).min_size, 0u);
  }
}

TEST(DeclarationTest, KindFollowsFromTheType) {
  EXPECT_EQ(only_field("unsigned int f").kind, FieldKind::kInteger);
  EXPECT_EQ(only_field("char[20] f").kind, FieldKind::kCharArray);
  EXPECT_EQ(only_field("__data_loc char[] f").kind, FieldKind::kDataLocString);
  EXPECT_EQ(only_field("__rel_loc unsigned char[] f").kind, FieldKind::kRelLocString);
  EXPECT_EQ(only_field("__data_loc u32[] f").kind, FieldKind::kDataLocBytes);
  EXPECT_EQ(only_field("__rel_loc int f").kind, FieldKind::kRelLocBytes);
  EXPECT_EQ(only_field("struct s f 8").kind, FieldKind::kStruct);
}

TEST(DeclarationTest, EverythingIsSignedThatDoesNotBeginWithU) {
  EXPECT_FALSE(only_field("u8 f").is_signed);
  EXPECT_FALSE(only_field("unsigned char[4] f").is_signed);
  EXPECT_TRUE(only_field("char f").is_signed);
  EXPECT_TRUE(only_field("struct u f 4").is_signed);
  EXPECT_TRUE(only_field("__rel_loc unsigned char[] f").is_signed);
}

TEST(DeclarationTest, SpacesAndSemicolonsBetweenFieldsDoNotCount) {
  const auto fields = parsed("e u32 a;u32 b").fields;
  EXPECT_EQ(parsed("e u32 a; u32 b").fields, fields);
  EXPECT_EQ(parsed("e  u32 a;;\t u32 b;").fields, fields);
}

TEST(DeclarationTest, ArraySizeMayBeHexadecimalOrOctal) {
  EXPECT_EQ(only_field("char[0x10] f").size, 16u);
  EXPECT_EQ(only_field("char[010] f").size, 8u);
  EXPECT_EQ(only_field("char[+4] f").size, 4u);
}

TEST(DeclarationTest, ArraySizeIsFrom1To1024) {
  EXPECT_EQ(only_field("char[1024] f").size, 1024u);
  for (const char* size : {"0", "1025", "-1", "", "0x", "08", "99999", "4294967297"}) {
    EXPECT_EQ(refusal("e char[" + std::string(size) + "] f"), EINVAL) << size;
  }
  EXPECT_EQ(refusal("e char[4 f"), EINVAL);
  EXPECT_EQ(refusal("e char[0000004] f"), EINVAL) << "the kernel looks at 7 characters";
}

TEST(DeclarationTest, StructSizeIsDecimal) {
  EXPECT_EQ(only_field("struct s f 010").size, 10u);
  EXPECT_EQ(only_field("struct s f 4\n").size, 4u) << "a shell's echo adds a newline";
  for (const char* size : {"0", "0x10", "-4", "4294967295", "4294967300", "4 4", "", "4x"}) {
    EXPECT_EQ(refusal("e struct s f " + std::string(size)), EINVAL) << size;
  }
}

TEST(DeclarationTest, FieldsMayNeedMoreThanARecordHolds) {
  EXPECT_EQ(parsed("e struct s f 99999").min_size, 99999u);
  EXPECT_EQ(parsed("e struct s f 2147483646;u8 g").min_size, kMaxFieldBytes);
  EXPECT_EQ(refusal("e struct s f 2147483646;u16 g"), EINVAL);
  EXPECT_EQ(refusal("e struct s f 2147483648"), EINVAL);
  EXPECT_EQ(refusal("e struct s f 2147483647;struct s g 2147483647;struct s h 10"), EINVAL);
}

TEST(DeclarationTest, NothingBeyondARecordIsChecked) {
  EXPECT_EQ(dynamic_field_checks(parsed("e struct s f 65532;__rel_loc char[] g")).size(), 1u);
  EXPECT_EQ(dynamic_field_checks(parsed("e struct s f 65536;__rel_loc char[] g")).size(), 0u);
}

TEST(DeclarationTest, NamesThatCannotBeAFolderAreRefused) {
  for (const char* text : {"", " u32 a", ". u32 a", "..", "a/b u32 a", "/"}) EXPECT_EQ(refusal(text), EINVAL) << text;
  EXPECT_EQ(parsed("...").name, "...");
}

TEST(DeclarationTest, FlagsAreRefusedBehindTheNameOnly) {
  EXPECT_EQ(refusal("e:FLAG u32 a"), EINVAL);
  EXPECT_EQ(refusal("e:"), EINVAL);
  EXPECT_EQ(parsed("e u32 a:b").fields[0].name, "a:b");
}

TEST(DeclarationTest, NamesAndWhatStandsBehindAPrefixMayBeEmpty) {
  EXPECT_EQ(only_field("u32 ").name, "");
  EXPECT_EQ(only_field("unsigned int ").type, "unsigned int");
  EXPECT_EQ(only_field("struct s  4").size, 4u);
  EXPECT_EQ(only_field("struct  a 4").type, "struct ");
  EXPECT_EQ(only_field("__data_loc  a").type, "__data_loc ");
}

TEST(DeclarationTest, OtherEmptyPartsAreRefused) {
  for (const char* text :
       {"e u32  a", "e u32", "e unsigned  a", "e u32 a ", "e struct s a ", "e struct ", "e struct s"}) {
    EXPECT_EQ(refusal(text), EINVAL) << text;
  }
}

TEST(DeclarationTest, LongestDeclarationIs511Bytes) {
  const std::string longest = "e u32 " + std::string(kMaxDeclaration - 1 - 6, 'x');
  EXPECT_EQ(refusal(longest), 0);
  EXPECT_EQ(refusal(longest + "x"), EINVAL);
}

TEST(DeclarationTest, NulIsRefused) {
  EXPECT_EQ(refusal(std::string_view("e u32 a\0b", 9)), EINVAL);
  EXPECT_FALSE(parse_fields(std::string_view("u32 a\0b", 7)));
}

TEST(DeclarationTest, ErrorNamesTheField) {
  const auto declaration = parse_declaration("e u32 a;long b");
  ASSERT_FALSE(declaration);
  EXPECT_THAT(declaration.error().message, testing::HasSubstr("long b"));
}

TEST(FieldsTextTest, ParsesToTheSameFields) {
  const auto event = parsed("e u32 a;struct s b 12;__rel_loc char[] c;unsigned char[0x4] d;");
  EXPECT_EQ(fields_text(event), "u32 a; struct s b 12; __rel_loc char[] c; unsigned char[0x4] d");
  EXPECT_EQ(*parse_fields(fields_text(event)), event.fields);
}

TEST(SameFieldsTest, SpacingAndOneLastSemicolonDoNotCount) {
  const auto event = parsed("e u32 a;struct s b 12");
  for (const char* text : {"u32 a;struct s b 12", "u32 a; struct s b 12;", " u32  a;\tstruct s b 12 \n"}) {
    EXPECT_TRUE(declares_same_fields(event, text)) << text;
  }
}

TEST(SameFieldsTest, EveryWordAndItsOrderCount) {
  const auto event = parsed("e u32 a;char[4] b");
  for (const char* text : {"", "u32 a", "u32 b;char[4] a", "char[4] b;u32 a", "u32 a;char [4] b", "u32 a;char[04] b",
                           "u32 a;char[4] b;u8 c"}) {
    EXPECT_FALSE(declares_same_fields(event, text)) << text;
  }
}

TEST(SameFieldsTest, OnlyTheLastNameMustNotBeEmpty) {
  EXPECT_TRUE(declares_same_fields(parsed("e u32 ;u32 b"), "u32 ;u32 b"));
  EXPECT_FALSE(declares_same_fields(parsed("e u32 a;u32 "), "u32 a;u32 "));
  EXPECT_FALSE(declares_same_fields(parsed("e __data_loc  a"), "__data_loc  a"));
}

TEST(SameFieldsTest, NoFieldsEqualNoFields) {
  EXPECT_TRUE(declares_same_fields(parsed("e"), ""));
  EXPECT_TRUE(declares_same_fields(parsed("e"), " "));
  EXPECT_FALSE(declares_same_fields(parsed("e"), "u32 a"));
}

}  // namespace
}  // namespace landtrace::event
