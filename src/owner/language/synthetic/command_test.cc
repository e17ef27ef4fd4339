#include "event/synthetic.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "event/gfp_flags.hpp"
#include "event/print.hpp"
#include "language/synthetic/command.hpp"

namespace landtrace::language {
namespace {

AcceptedSynthetic<event::Declaration> define(std::string_view line) {
  const auto command = split_synthetic(line);
  if (!command) return tl::unexpected<CommandRefusal>(command.error());
  return parse_synthetic(*command, [](std::string_view name) { return name == "taken"; });
}

std::string refusal_of(std::string_view line) {
  const auto defined = define(line);
  if (defined) return "ok";
  return std::string(defined.error().what) + " @" + std::to_string(defined.error().position);
}

std::string shown_command(std::string_view line) {
  const auto defined = define(line);
  return defined ? event::fields_text(*defined) : "-";
}

TEST(Synthetic, TypesOfFields) {
  for (const char* const type : {"s64", "u64", "s32", "u32", "s16", "u16", "s8", "u8", "char", "unsigned char", "int",
                                 "unsigned int", "long", "unsigned long", "bool", "pid_t", "gfp_t"}) {
    EXPECT_EQ(shown_command(std::string("e ") + type + " a"), std::string(type) + " a");
  }
  for (const char* const type : {"short", "unsigned short", "float", "void*", "size_t", "struct"}) {
    EXPECT_EQ(shown_command(std::string("e ") + type + " a"), "-");
  }
}

TEST(Synthetic, EveryFieldHasEightBytesAndATextItsOwn256) {
  const auto declared = define("e char a[8]; u16 b; char c[]; long d[]; s8 f");
  ASSERT_TRUE(declared);
  std::vector<std::uint32_t> offsets, sizes;
  for (const event::Field& field : declared->fields) {
    offsets.push_back(field.offset);
    sizes.push_back(field.size);
  }
  EXPECT_EQ(offsets, (std::vector<std::uint32_t>{8, 264, 272, 280, 288}));
  EXPECT_EQ(sizes, (std::vector<std::uint32_t>{8, 2, 8, 8, 1}));
  EXPECT_EQ(declared->min_size, 288u);
}

TEST(Synthetic, RefusalsSayWhere) {
  EXPECT_EQ(refusal_of("lat"), "Command must be of the form: <name> field[;field] ... @0");
  EXPECT_EQ(refusal_of("lat ; u64 a"), "Command must be of the form: <name> field[;field] ... @0");
  EXPECT_EQ(refusal_of("taken u64 a"), "Event already exists @0");
  EXPECT_EQ(refusal_of("lat u64 a-b"), "Illegal name @8");
  EXPECT_EQ(refusal_of("lat u64 a[2]"), "Invalid type @4");
  EXPECT_EQ(refusal_of("lat u64 a; unsigned b"), "Incomplete type @11");
  EXPECT_EQ(refusal_of("lat char a[257]"), "Invalid array specification @9");
  EXPECT_EQ(refusal_of("lat char a[1000]"), "Invalid array specification @9");
  EXPECT_EQ(refusal_of("lat char[x] a"), "Invalid type @4");
  EXPECT_EQ(refusal_of("lat u64 a u32"), "Invalid field @10");
}

TEST(Synthetic, CommandsOfDynamicEvents) {
  EXPECT_EQ(split_dynamic_synthetic("s:lat u64 a")->name, "lat");
  EXPECT_EQ(split_dynamic_synthetic(" s:synthetic/lat u64 a")->name, "lat");
  EXPECT_EQ(split_dynamic_synthetic("s:synthetic/lat u64 a")->fields, "u64 a");
  EXPECT_EQ(split_dynamic_synthetic("s:other/lat u64 a").error().what.substr(0, 36),
            "Command must be of the form: s or -:");
  EXPECT_FALSE(split_dynamic_synthetic("s:lat"));
  EXPECT_FALSE(split_dynamic_synthetic("s:lat u64"));
  EXPECT_EQ(parse_synthetic(*split_dynamic_synthetic("s: u64 a b"), [](auto) { return false; }).error().position, 0u);
}

TEST(Synthetic, ReadsBackWhatItShows) {
  const auto declared = define("e unsigned int a; char[8] b; char c[]; long[] st; gfp_t g");
  ASSERT_TRUE(declared);
  const auto again = event::parse_declared("e", event::fields_text(*declared), event::flavour_text(*declared));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *declared);
  const auto parsed = event::parse_format(event::format_text(*declared, "e", 7), "synthetic");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(event::format_text(parsed->declaration, "e", 7), event::format_text(*declared, "e", 7));
}

TEST(Synthetic, PrintsAsTheKernelDoes) {
  const auto declared = define("e s8 a; s16 b; s32 c; s64 d; u32 x; gfp_t g; char t[4]; char s[]; bool f");
  ASSERT_TRUE(declared);
  std::string payload(declared->min_size, '\0');
  const std::int64_t minus = -1;
  for (std::size_t i = 0; i < 5; ++i) std::memcpy(payload.data() + 8 * i, &minus, sizeof minus);
  const std::uint32_t gfp = 0xcc0 | 0x100 | 0x2000000;
  std::memcpy(payload.data() + 40, &gfp, sizeof gfp);
  std::memcpy(payload.data() + 48, "abcdefg", 7);
  const std::uint32_t location = 6u << 16 | static_cast<std::uint32_t>(payload.size() + abi::kEntryHeaderSize);
  std::memcpy(payload.data() + 48 + event::kSyntheticText, &location, sizeof location);
  payload.append("hello", 6);
  std::string text;
  event::print_fields(text, *declared, std::as_bytes(std::span(payload)));
  EXPECT_EQ(text,
            " a=255 b=65535 c=-1 d=-1 x=4294967295 g=2000dc0 (GFP_KERNEL|__GFP_ZERO|0x2000000) t=abcdefg s=hello f=0");
}

TEST(Synthetic, AStackHasALineForEachAddress) {
  const auto declared = define("e long[] st; u8 n");
  std::string payload(16, '\0');
  const std::uint32_t location = 16u << 16 | (16 + abi::kEntryHeaderSize);
  std::memcpy(payload.data(), &location, sizeof location);
  const std::uint64_t frames[] = {0x1000, 0x2000};
  payload.append(reinterpret_cast<const char*>(frames), sizeof frames);
  std::string text;
  event::print_fields(text, *declared, std::as_bytes(std::span(payload)));
  EXPECT_EQ(text, " st=STACK:\n=> 0x1000\n=> 0x2000\n n=0");
}

TEST(Synthetic, WhatLiesOutsideIsNotRead) {
  const auto declared = define("e u64 a; char s[]");
  std::string text;
  std::string payload(12, '\xff');
  event::print_fields(text, *declared, std::as_bytes(std::span(payload)));
  EXPECT_EQ(text, " a=18446744073709551615 s=<OVERFLOW>");
  payload.assign(16, '\xff');
  text.clear();
  event::print_fields(text, *declared, std::as_bytes(std::span(payload)));
  EXPECT_EQ(text, " a=18446744073709551615 s=<OVERFLOW>");
}

}  // namespace
}  // namespace landtrace::language
