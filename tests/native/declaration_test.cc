// What C++ types are declared as, decided at compile time.
#include <gtest/gtest.h>

#include <cstring>

#include <landtrace/landtrace.hpp>

#include "event/declaration.hpp"

namespace outer {
struct Position {
  std::int32_t x;
  std::int32_t y;
};
template <typename T>
struct Pair {
  T a;
  T b;
};
struct Renamed {
  char bytes[3];
};
}  // namespace outer

template <>
inline constexpr std::string_view landtrace::type_name<outer::Renamed> = "other_name";

namespace outer {
enum class Colour : std::uint8_t {};
struct Shape {
  Position corners[2][3];
  std::array<float, 2> half;
  char name[7];
  bool filled;
  const char* text;
  Colour colour;
  Pair<int> pair;
  const char word[4];
  double area;
};
}  // namespace outer
LANDTRACE_DESCRIBE(outer::Position, x, y);
LANDTRACE_DESCRIBE(outer::Shape, corners, half, name, filled, text, colour, pair, word, area);
LANDTRACE_DESCRIBE(outer::Renamed, bytes);

#define TEN(a) a##0, a##1, a##2, a##3, a##4, a##5, a##6, a##7, a##8, a##9
#define HUNDRED(a) \
  TEN(a##0), TEN(a##1), TEN(a##2), TEN(a##3), TEN(a##4), TEN(a##5), TEN(a##6), TEN(a##7), TEN(a##8), TEN(a##9)
namespace outer {
struct Large {
  signed char HUNDRED(a), HUNDRED(b), TEN(c);
};
}  // namespace outer
LANDTRACE_DESCRIBE(outer::Large, HUNDRED(a), HUNDRED(b), TEN(c));

namespace landtrace {
namespace {

enum class Small : std::int16_t {};
enum Plain {};

template <typename T>
std::string declared_as() {
  return Event<"e", Field<"f", T>>::kDeclaration.data();
}

TEST(NativeDeclarationTest, IntegersAreDeclaredBySizeAndSign) {
  EXPECT_EQ(declared_as<std::uint8_t>(), "e u8 f");
  EXPECT_EQ(declared_as<std::int8_t>(), "e s8 f");
  EXPECT_EQ(declared_as<std::uint16_t>(), "e u16 f");
  EXPECT_EQ(declared_as<std::int16_t>(), "e s16 f");
  EXPECT_EQ(declared_as<std::uint32_t>(), "e u32 f");
  EXPECT_EQ(declared_as<int>(), "e s32 f");
  EXPECT_EQ(declared_as<std::uint64_t>(), "e u64 f");
  EXPECT_EQ(declared_as<long>(), sizeof(long) == 8 ? "e s64 f" : "e s32 f");
  EXPECT_EQ(declared_as<unsigned long long>(), "e u64 f");
  EXPECT_EQ(declared_as<char>(), "e char f");
  EXPECT_EQ(declared_as<bool>(), "e u8 f");
}

TEST(NativeDeclarationTest, EnumerationsAreTheirUnderlyingType) {
  EXPECT_EQ(declared_as<Small>(), "e s16 f");
  EXPECT_EQ(declared_as<Plain>(), "e u32 f");
}

TEST(NativeDeclarationTest, FloatingTypesAreStructsThatReportsKnow) {
  EXPECT_EQ(declared_as<float>(), "e struct float f 4");
  EXPECT_EQ(declared_as<double>(), "e struct double f 8");
}

TEST(NativeDeclarationTest, TextAndBytesAreDynamic) {
  EXPECT_EQ(declared_as<std::string_view>(), "e __rel_loc char[] f");
  EXPECT_EQ(declared_as<std::string>(), "e __rel_loc char[] f");
  EXPECT_EQ(declared_as<const char*>(), "e __rel_loc char[] f");
  EXPECT_EQ(declared_as<std::span<const std::byte>>(), "e __rel_loc u8[] f");
  EXPECT_EQ(declared_as<std::span<const std::uint8_t>>(), "e __rel_loc u8[] f");
}

TEST(NativeDeclarationTest, CharArraysKeepTheirSize) {
  EXPECT_EQ(declared_as<char[20]>(), "e char[20] f");
  EXPECT_EQ((declared_as<std::array<char, 1024>>()), "e char[1024] f");
}

TEST(NativeDeclarationTest, DescribedStructsAreBehindTheDeclaration) {
  using Drawn = Event<"e", Field<"shape", outer::Shape>, Field<"at", outer::Position>, Field<"n", int>,
                      Field<"other", outer::Renamed>>;
  EXPECT_STREQ(Drawn::kTexts.data(), Drawn::kDeclaration.data());
  EXPECT_STREQ(Drawn::kTexts.data() + Drawn::kDeclaration.size(),
               "Shape 96{struct Position corners*6 0 48;float half*2 48 8;char[] name 56 7;bool filled 63 1;"
               "ptr text 64 8;u8 colour 72 1;struct Pair pair 76 8;char[] word 84 4;double area 88 8}"
               "Position 8{s32 x 0 4;s32 y 4 4}other_name 3{char[] bytes 0 3}");
}

TEST(NativeDeclarationTest, ADescribedStructMayHaveHundredsOfMembers) {
  using Filled = Event<"e", Field<"large", outer::Large>>;
  const std::string_view text = Filled::kTexts.data() + Filled::kDeclaration.size();
  EXPECT_TRUE(text.starts_with("Large 210{s8 a00 0 1;s8 a01 1 1;")) << text;
  EXPECT_TRUE(text.ends_with(";s8 c9 209 1}")) << text;
}

TEST(NativeDeclarationTest, WithoutDescribedStructsThereIsNothingBehindIt) {
  using Bare = Event<"e", Field<"pair", outer::Pair<int>>>;
  EXPECT_EQ(Bare::kTexts.size(), Bare::kDeclaration.size());
}

TEST(NativeDeclarationTest, StructsAreNamedWithoutTheirScope) {
  EXPECT_EQ(declared_as<outer::Position>(), "e struct Position f 8");
  EXPECT_EQ(declared_as<outer::Pair<std::uint64_t>>(), "e struct Pair f 16");
  struct Local {
    char c;
  };
  EXPECT_EQ(declared_as<Local>(), "e struct Local f 1");
}

TEST(NativeDeclarationTest, StructNamesCanBeSpecialised) {
  EXPECT_EQ(declared_as<outer::Renamed>(), "e struct other_name f 3");
}

TEST(NativeDeclarationTest, FieldsKeepTheirOrderAndFlagsAreNoFields) {
  using Both = Event<"both", Flags<kPersist>, Field<"a", std::uint8_t>, Flags<kMultiFormat>, Field<"b", double>>;
  EXPECT_STREQ(Both::kDeclaration.data(), "both u8 a;struct double b 8");
  EXPECT_STREQ(Event<"alone">::kDeclaration.data(), "alone");
}

TEST(NativeDeclarationTest, DomainsParseWhatIsDeclared) {
  using All = Event<"all", Field<"a", std::uint8_t>, Field<"b", outer::Position>, Field<"c", char[5]>,
                    Field<"d", std::string_view>, Field<"e", float>, Field<"f", std::span<const std::byte>>>;
  const auto parsed = event::parse_declaration(All::kDeclaration.data());
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->min_size, 1u + 8 + 5 + 4 + 4 + 4);
  EXPECT_EQ(parsed->fields.size(), 6u);
}

TEST(NativeDeclarationTest, DeclarationsAreTerminatedAndNothingMore) {
  using Short = Event<"short", Field<"a", int>>;
  static_assert(Short::kDeclaration.size() == sizeof "short s32 a");
  static_assert(Short::kDeclaration.back() == '\0');
}

}  // namespace
}  // namespace landtrace
