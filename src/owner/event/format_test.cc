#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "event/declaration.hpp"
#include "event/synthetic.hpp"

namespace landtrace::event {
namespace {

// Of Linux 6.12 on x86-64.
constexpr const char* kSchedSwitch =
    "name: sched_switch\n"
    "ID: 316\n"
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\n"
    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
    "\n"
    "print fmt: \"prev_comm=%s\", REC->prev_comm\n";

std::string format_with(std::string_view fields) {
  return "name: e\nID: 7\nformat:\n"
         "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n" +
         std::string(fields) + "\nprint fmt: \"\"\n";
}

Field only_format_field(std::string_view line) {
  const auto parsed = parse_format(format_with(line));
  EXPECT_TRUE(parsed && parsed->declaration.fields.size() == 1) << line;
  return parsed && !parsed->declaration.fields.empty() ? parsed->declaration.fields[0] : Field();
}

int format_refusal(std::string_view text) {
  const auto parsed = parse_format(text);
  return parsed ? 0 : parsed.error().code;
}

TEST(FormatTextTest, ShowsTheNameOfTheEventsDirectory) {
  const auto event = parse_declaration("e u32 a");
  EXPECT_THAT(format_text(*event, "e.1", 60000), testing::StartsWith("name: e.1\nID: 60000\nformat:\n"));
}

TEST(FormatTextTest, BracketsFollowTheNameExceptForDataLoc) {
  const auto event = parse_declaration("e char[20] a;__rel_loc u8[] b;__data_loc char[] c;struct s[2] d 8");
  const auto text = format_text(*event, "e", 1);
  for (const char* field :
       {"field:char a[];", "field:__rel_loc u8 b[];", "field:__data_loc char[] c;", "field:struct s d[];"}) {
    EXPECT_THAT(text, testing::HasSubstr(field));
  }
}

TEST(PrintFormatTest, ConversionFollowsTheType) {
  const auto event = parse_declaration("e s64 a;char[4] b;__rel_loc char[] c;__data_loc u8[] d;struct s e 4");
  EXPECT_EQ(print_format(*event),
            "\"a=%lld b=%s c=%s d=%llu e=%llu\", REC->a, REC->b, __get_rel_str(c), REC->d, REC->e");
}

TEST(PrintFormatTest, EmptyWithoutFields) { EXPECT_EQ(print_format(*parse_declaration("e")), "\"\""); }

TEST(ParseFormatTest, GivesBackWhatWasDeclared) {
  for (const char* text :
       {"e", "e u32 a;s64 b;unsigned char c", "e char[20] a;unsigned char[4] b;__rel_loc char[] c;__data_loc u32[] d",
        "e struct s a 20;__rel_loc s64[] b", "e u32 common_pid", "e u32 a\n", "e\n u32 a\n\nb;u8 c"}) {
    const auto event = parse_declaration(text);
    ASSERT_TRUE(event);
    const auto parsed = parse_format(format_text(*event, event->name, 60001));
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->declaration, *event);
    EXPECT_EQ(parsed->id, 60001u);
  }
}

TEST(ParseFormatTest, ReadsAKernelsOwnEvent) {
  const auto parsed = parse_format(kSchedSwitch);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->id, 316u);
  EXPECT_EQ(parsed->declaration.name, "sched_switch");
  EXPECT_EQ(parsed->declaration.min_size, 32u);
  const std::vector<Field> fields{{"char[16]", "prev_comm", 8, 16, false, FieldKind::kCharArray},
                                  {"pid_t", "prev_pid", 24, 4, true, FieldKind::kInteger},
                                  {"long", "prev_state", 32, 8, true, FieldKind::kInteger}};
  EXPECT_EQ(parsed->declaration.fields, fields);
}

TEST(ParseFormatTest, KindOfForeignFields) {
  EXPECT_EQ(only_format_field("\tfield:const char * p;\toffset:8;\tsize:8;\tsigned:0;\n").kind, FieldKind::kInteger);
  EXPECT_EQ(only_format_field("\tfield:char buf[];\toffset:8;\tsize:0;\tsigned:0;\n").kind, FieldKind::kCharArray);
  const auto args = only_format_field("\tfield:unsigned long args[6];\toffset:8;\tsize:48;\tsigned:0;\n");
  EXPECT_EQ(args.kind, FieldKind::kStruct);
  EXPECT_EQ(args.type, "unsigned long[6]");
}

TEST(ParseFormatTest, ArrayLengthComesFromTheSize) {
  EXPECT_EQ(only_format_field("\tfield:char f[99];\toffset:8;\tsize:20;\tsigned:1;\n").type, "char[20]");
  EXPECT_EQ(only_format_field("\tfield:__rel_loc char f[1744843830];\toffset:8;\tsize:4;\tsigned:1;\n").type,
            "__rel_loc char[]");
}

TEST(ParseFormatTest, MoreCommonFieldsAreSkipped) {
  const auto parsed = parse_format(
      "name: e\nID: 7\nformat:\n"
      "\tfield:unsigned char common_preempt_lazy_count;\toffset:8;\tsize:1;\tsigned:0;\n"
      "\n"
      "\tfield:u32 a;\toffset:12;\tsize:4;\tsigned:0;\n");
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->declaration.fields.size(), 1u);
  EXPECT_EQ(parsed->declaration.min_size, 8u);
}

TEST(ParseFormatTest, SignednessMayBeAbsent) {
  EXPECT_FALSE(only_format_field("\tfield:int a;\toffset:8;\tsize:4;\n").is_signed);
}

TEST(ParseFormatTest, GarbageIsRefused) {
  for (const char* text : {"", "name: e", "name: e\nID: 7", "name: e\nID: x\nformat:\n", "name: e\nID: 7\nfields:\n"}) {
    EXPECT_EQ(format_refusal(text), EINVAL) << text;
  }
  for (const char* line :
       {"\tfield:u32 a\n", "\tfield:u32;\toffset:8;\tsize:4;\tsigned:0;\n", "rubbish\n",
        "\tfield:u32 a;\toffset:8;\tsize:4;\tsigned:0; more\n", "\tfield:u32 a;\toffset:-8;\tsize:4;\tsigned:0;\n"}) {
    EXPECT_EQ(format_refusal(format_with(line)), EINVAL) << line;
  }
}

TEST(ParseFormatTest, FieldsOutsideARecordAreRefused) {
  EXPECT_EQ(format_refusal(format_with("\tfield:u32 a;\toffset:4;\tsize:4;\tsigned:0;\n")), EINVAL);
  EXPECT_EQ(format_refusal(format_with("\tfield:struct s a;\toffset:8;\tsize:2147483648;\tsigned:0;\n")), EINVAL);
  EXPECT_EQ(format_refusal(format_with("\tfield:struct s a;\toffset:4294967295;\tsize:4294967295;\tsigned:0;\n")),
            EINVAL);
}

TEST(ParseFormatTest, ADynamicFieldOfASyntheticEventHasRoomForItsPlace) {
  const auto parse = [](unsigned size) {
    const std::string line = "\tfield:__data_loc char[] s;\toffset:8;\tsize:" + std::to_string(size) + ";\tsigned:1;\n";
    return parse_format(format_with(line), kSyntheticSystem);
  };
  for (const unsigned size : {0u, 1u, 2u, 3u}) {
    const auto parsed = parse(size);
    ASSERT_FALSE(parsed) << size;
    EXPECT_EQ(parsed.error().code, EINVAL);
    EXPECT_THAT(parsed.error().message, testing::HasSubstr("__data_loc char[] s"));
  }
  for (const unsigned size : {4u, 8u}) {
    const auto parsed = parse(size);
    ASSERT_TRUE(parsed) << size;
    EXPECT_EQ(parsed->declaration.fields.at(0).kind, FieldKind::kDataLocString);
  }
}

TEST(ParseFormatTest, ErrorShowsTheLine) {
  const auto parsed = parse_format(format_with("\tfield:what is this\n"));
  ASSERT_FALSE(parsed);
  EXPECT_THAT(parsed.error().message, testing::HasSubstr("what is this"));
}

}  // namespace
}  // namespace landtrace::event
