#include "tracefs/events/injected.hpp"

#include <gtest/gtest.h>

#include "event/print.hpp"

namespace landtrace::tracefs {
namespace {

using namespace std::string_literals;

std::string printed(const std::string& declaration, std::string_view line) {
  const auto parsed = event::parse_declaration(declaration);
  const auto injected = parse_injected(*parsed, line);
  if (!injected) return "-" + std::string(::strerrorname_np(injected.error().code));
  std::string text;
  event::print_fields(text, *parsed, std::as_bytes(std::span(injected->payload)));
  return text;
}

TEST(Injected, NumbersInAllTheirForms) {
  const std::string e = "e u8 a;s16 b;u32 c;s64 d";
  EXPECT_EQ(printed(e, "c = 7"), printed(e, "c=7"));
  EXPECT_EQ(printed("e u32 c", "c = 0x1F"), " c=0x1f (31)");
  EXPECT_EQ(printed("e u32 c", " c=010"), " c=0x8 (8)");
  EXPECT_EQ(printed("e s64 d", "d=-5"), " d=0xfffffffffffffffb (-5)");
  EXPECT_EQ(printed("e s64 d", "d=-9223372036854775808"), " d=0x8000000000000000 (-9223372036854775808)");
  EXPECT_EQ(printed("e s64 d", "d=9223372036854775808"), "-ERANGE");
  EXPECT_EQ(printed("e u64 d", "d=18446744073709551615"), " d=0xffffffffffffffff (-1)");
  EXPECT_EQ(printed("e u64 d", "d=18446744073709551616"), "-ERANGE");
  EXPECT_EQ(printed("e u32 c", "c=-1"), "-EINVAL");
  EXPECT_EQ(printed("e u16 c", "c=0x12345"), " c=0x2345 (9029)");
}

TEST(Injected, WhatIsNotSaidIsNothing) {
  EXPECT_EQ(printed("e u32 n;char[4] s;__data_loc char[] d;__rel_loc char[] r", ""), " n=0x0 (0) s= d= r=");
  EXPECT_EQ(printed("e", ""), "No fields found");
}

TEST(Injected, AnEventThatNoRecordHolds) { EXPECT_EQ(printed("e struct s f 65537", ""), "-E2BIG"); }

TEST(Injected, TextsOfAllKinds) {
  EXPECT_EQ(printed("e char[8] s", "s = \"abc\""), " s=abc");
  EXPECT_EQ(printed("e char[4] s", "s='abcdef'"), " s=abc");
  EXPECT_EQ(printed("e __data_loc char[] d;__rel_loc char[] r", "d='one' r=\"two\""), " d=one r=two");
  EXPECT_EQ(printed("e __rel_loc char[] r", "r=\"a \\\" b\""), " r=a \\\" b");
  EXPECT_EQ(printed("e __rel_loc char[] r", "r=\"" + std::string(256, 'x') + "\""), "-EINVAL");
}

TEST(Injected, RefusesWhatAFieldCannotTake) {
  for (const char* const bad :
       {"=1", "n", "n 1", "n=", "n=x", "n=1;", "n=\"a\"", "s=1", "s=abc", "s=\"a", "n=-", "; n=1"}) {
    EXPECT_EQ(printed("e u32 n;char[4] s", bad), "-EINVAL") << bad;
  }
  EXPECT_EQ(printed("e u32 n", "nosuch = 1"), "-ENOENT");
  EXPECT_EQ(printed("e u32 n", "n = 1 nosuch = 1"), "-ENOENT");
  EXPECT_EQ(printed("e struct s a 20", "a = 1"), "-EINVAL");
}

TEST(Injected, AStructsNameSaysNothing) {
  for (const char* const type : {"struct __data_loc_char", "struct __rel_loc_char"}) {
    // At the end of what is allocated, where anything longer than the field would not fit.
    const std::string e = std::string("e char[29] a;") + type + " s 1";
    EXPECT_EQ(printed(e, ""), " a= s=(0)") << type;
    EXPECT_EQ(printed(e, "s = 65"), " a= s='A'(65)") << type;
    EXPECT_EQ(printed(e, "s = \"A\""), "-EINVAL") << type;
  }
}

TEST(Injected, CommonFieldsCanBeSaid) {
  const auto declaration = event::parse_declaration("e u32 n");
  EXPECT_EQ(parse_injected(*declaration, "common_pid = 7 n=1")->tid, 7u);
  EXPECT_EQ(parse_injected(*declaration, "common_type = 7 n=1")->payload, parse_injected(*declaration, "n=1")->payload);
}

}  // namespace
}  // namespace landtrace::tracefs
