#include "event/fields_printer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "event/print.hpp"

namespace landtrace::event {
namespace {

Declaration declared(const std::string& fields) {
  Declaration declaration;
  declaration.name = "e";
  declaration.fields = *parse_fields(fields);
  return declaration;
}

void compare(const Declaration& declaration, std::span<const std::byte> payload) {
  std::string expected;
  print_fields(expected, declaration, payload);
  TextBuffer out;
  FieldsPrinter(declaration).print(out, payload);
  EXPECT_EQ(out.text(), expected);
}

// Numbers, texts and locations at random, cut at random: much of it is hostile.
std::vector<std::byte> random_payload(std::mt19937& random) {
  std::vector<std::byte> payload(random() % 200);
  for (std::byte& byte : payload) byte = static_cast<std::byte>(random() % 3 == 0 ? random() : random() % 10);
  for (std::size_t at = 0; at + 4 <= payload.size(); at += 4) {
    if (random() % 4 != 0) continue;
    const std::uint32_t word = static_cast<std::uint32_t>((random() % 40) << 16 | random() % 80);
    std::memcpy(payload.data() + at, &word, sizeof word);
  }
  return payload;
}

TEST(FieldsPrinterTest, WhatIsPrintedIsWhatPrintFieldsPrints) {
  const std::vector<Declaration> all = {
      declared("u32 a; u64 b; u16 c; u8 d; s8 e; s32 f"),
      declared("char[20] text; u32 n; unsigned char[3] more"),
      declared("__rel_loc char[] r; __data_loc char[] d; u32 n"),
      declared("__rel_loc u8[] bytes; __data_loc u8[] others; char letter"),
      declared("struct one s 12; struct float f 4; struct double d 8; u64 last"),
      declared("u32 a_name_that_is_longer_than_sixteen_characters; u32 b"),
      declared("")};
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const auto payload = random_payload(random);
    for (const Declaration& declaration : all) compare(declaration, payload);
  }
}

TEST(FieldsPrinterTest, AFieldInTheHeaderOrBehindAllPayloadsIsNotRead) {
  Declaration declaration = declared("u32 a; u32 b; char[4] c");
  declaration.fields[0].offset = 4;
  declaration.fields[1].offset = ~0u - 1;
  declaration.fields[2].size = 0;
  const std::uint64_t payload[] = {1, 2, 3};
  compare(declaration, std::as_bytes(std::span(payload)));
}

TEST(FieldsPrinterTest, SyntheticEventsAndProbesHaveFormsOfTheirOwn) {
  const std::uint64_t payload[] = {0x1234, 2, 3};
  for (const char* const flavour : {"synthetic", "entry", "return"}) {
    const auto declaration = parse_declared("e", "u64 a; u32 b", flavour);
    if (declaration) compare(*declaration, std::as_bytes(std::span(payload)));
  }
}

TEST(TextBufferTest, GrowsWithWhatIsThere) {
  TextBuffer text;
  std::string expected;
  EXPECT_EQ(text.text(), "");
  for (int i = 0; i < 3000; ++i) {
    const std::string piece = std::to_string(i) + ' ';
    text.append(piece);
    expected += piece;
  }
  text.append(std::string(100'000, 'x'));
  EXPECT_EQ(text.text(), expected + std::string(100'000, 'x'));
  text.clear();
  EXPECT_EQ(text.size(), 0u);
}

}  // namespace
}  // namespace landtrace::event
