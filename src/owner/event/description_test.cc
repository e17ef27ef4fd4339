#include "event/description.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "event/print.hpp"

namespace landtrace::event {
namespace {

struct Position {
  std::int32_t x;
  std::int32_t y;
};
struct Everything {
  std::uint64_t big;
  double real;
  const void* pointer;
  float half;
  std::int16_t few[3];
  bool yes;
  std::int8_t tiny;
  Position corners[2];
  char name[4];
  char nothing[4];
};

constexpr std::string_view kPosition = "position 8{s32 x 0 4;s32 y 4 4}";
const std::string kEverything =
    "everything 64{u64 big 0 8;double real 8 8;ptr pointer 16 8;float half 24 4;s16 few*3 28 6;bool yes 34 1;s8 tiny "
    "35 "
    "1;struct position corners*2 36 16;char[] name 52 4;struct unknown nothing 56 4}" +
    std::string(kPosition);

template <typename T>
std::string text(const std::string& declaration, std::string_view description, const T& value) {
  auto parsed = parse_declaration(declaration);
  describe_structs(*parsed, description);
  std::string out;
  print_fields(out, *parsed, std::as_bytes(std::span(&value, 1)));
  return out;
}

TEST(DescriptionTest, MembersHaveTheirNamesAndPlaces) {
  EXPECT_EQ(text("e struct position p 8", kPosition, Position{3, -4}), " p={x=3 y=-4}");
  const struct {
    std::uint32_t id;
    Position p;
  } behind{7, {1, 2}};
  EXPECT_EQ(text("e u32 id; struct position p 8", kPosition, behind), " id=0x7 (7) p={x=1 y=2}");
}

TEST(DescriptionTest, MembersOfAllTypes) {
  static_assert(sizeof(Everything) == 64 && offsetof(Everything, corners) == 36 && offsetof(Everything, nothing) == 56);
  Everything all{};
  all.big = 1ull << 63;
  all.real = 0.5;
  all.pointer = reinterpret_cast<const void*>(0x1000);
  all.half = -2.25f;
  all.few[0] = -1;
  all.few[2] = 5;
  all.yes = true;
  all.tiny = -128;
  all.corners[1] = {8, 9};
  std::memcpy(all.name, "abcd", 4);
  std::memcpy(all.nothing, "\1\2\3", 4);
  EXPECT_EQ(text("e struct everything a 64", kEverything, all),
            " a={big=9223372036854775808 real=0.5 pointer=0x1000 half=-2.25 few=[-1,0,5] yes=true tiny=-128 "
            "corners=[{x=0 y=0},{x=8 y=9}] name=abcd nothing=01,02,03,00}");
}

TEST(DescriptionTest, OnlyAStructOfThatNameAndSizeIsMeant) {
  const Position p{3, 4};
  const std::string plain = text("e struct position p 8", "", p);
  EXPECT_EQ(plain, " p=0x400000003 (17179869187)");
  EXPECT_EQ(text("e struct position p 8", "position 12{s32 x 0 4}", p), plain);
  EXPECT_EQ(text("e struct position p 8", "positio 8{s32 x 0 4}", p), plain);
  EXPECT_EQ(text("e u64 p", kPosition, p), plain);
}

TEST(DescriptionTest, WhatIsNoneSaysNothing) {
  const Position p{3, 4};
  const std::string plain = text("e struct position p 8", "", p);
  for (const char* const bad : {"position",
                                "position 8",
                                "position 8{",
                                "position 8{s32 x 0 4",
                                "position 8{s32}",
                                "position 8{s32 x}",
                                "position 8{s32 x 0}",
                                "position 8{s32 x 8 4}",
                                "position 8{s32 x 4294967295 4}",
                                "position 8{s32 x 0 0}",
                                "position 8{s32 x*0 0 4}",
                                "position 8{s32 x*3 0 4}",
                                "position 8{s32 x* 0 4}",
                                "position 8{s32  0 4}",
                                "position x{s32 x 0 4}",
                                "position 8{s32 x\n 0 4}",
                                "position 8{s32 \33[1m 0 4}",
                                " 8{s32 x 0 4}",
                                "position 8{s32 x 0 4}}",
                                "}{;*"}) {
    EXPECT_EQ(text("e struct position p 8", bad, p), plain) << bad;
  }
  EXPECT_EQ(text("e struct position p 8", std::string(kPosition) + std::string(kMaxDescription, ' '), p), plain);
}

TEST(DescriptionTest, StructsInThemselvesAndVeryManyMembersEnd) {
  const Position p{3, 4};
  EXPECT_LT(text("e struct position p 8", "position 8{struct position p 0 8}", p).size(), 100u);
  const std::string many =
      "a 16{struct b x*16 0 16}b 1{struct c x 0 1;struct c y 0 1;struct c z 0 1;struct c w 0 1}"
      "c 1{struct d x 0 1;struct d y 0 1;struct d z 0 1;struct d w 0 1}"
      "d 1{struct e x 0 1;struct e y 0 1;struct e z 0 1;struct e w 0 1}e 1{u8 x 0 1;u8 y 0 1;u8 z 0 1;u8 w 0 1}";
  EXPECT_GT(text("e struct b p 1", many, std::uint8_t{1}).size(), 1000u);
  EXPECT_LT(text("e struct a p 16", many, std::array<Position, 2>()).size(), 100u);
}

TEST(DescriptionTest, MembersBehindThePayloadAreSaidToBe) {
  EXPECT_EQ(text("e struct position p 8", kPosition, std::int32_t{3}), " p=<OVERFLOW>");
}

}  // namespace
}  // namespace landtrace::event
