#include "language/probe/usdt_operand.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace landtrace::language {
namespace {

// What was understood, in one line.
std::string understood(const std::string& text) {
  const auto operands = parse_usdt_operands(text);
  if (operands.size() != 1) return fmt::format("{} operands", operands.size());
  const UsdtOperand& operand = operands[0];
  const auto reg = [](std::optional<arch::Register> one) { return one ? fmt::format("r{}", int{*one}) : "-"; };
  return fmt::format("{} {}{}{} base={}{} index={}*{} {}{}", static_cast<int>(operand.kind), usdt_type(operand),
                     operand.is_float ? " float" : "", operand.is_signed ? " signed" : "", reg(operand.base),
                     operand.is_high ? " high" : "", reg(operand.index), operand.scale, operand.symbol,
                     operand.number == 0 ? "" : fmt::format("{:+}", operand.number));
}
UsdtOperand::Kind kind_of(const std::string& text) { return parse_usdt_operands(text).at(0).kind; }

TEST(UsdtOperand, RegistersAndTheirParts) {
  EXPECT_EQ(understood("-4@%edi"), "1 s32 signed base=r14 index=-*1 ");
  EXPECT_EQ(understood("8@%r15"), "1 u64 base=r0 index=-*1 ");
  EXPECT_EQ(understood("2@%r10w"), "1 u16 base=r7 index=-*1 ");
  EXPECT_EQ(understood("-1@%bpl"), "1 s8 signed base=r4 index=-*1 ");
  EXPECT_EQ(understood("1@%ch"), "1 u8 base=r11 high index=-*1 ");
  EXPECT_EQ(understood("4@%rax"), "1 u32 base=r10 index=-*1 ");  // what is wider counts as far as its size goes
  EXPECT_EQ(understood("8f@%rcx"), "1 x64 float base=r11 index=-*1 ");
  EXPECT_EQ(understood("-4f@%r8d"), "1 x32 float signed base=r9 index=-*1 ");
}

TEST(UsdtOperand, WithoutASizeItIsAsWideAsItsRegister) {
  EXPECT_EQ(understood("%eax"), "1 u32 base=r10 index=-*1 ");
  EXPECT_EQ(understood("%al"), "1 u8 base=r10 index=-*1 ");
  EXPECT_EQ(understood("$5"), "0 u64 base=- index=-*1 +5");
  EXPECT_EQ(understood("8(%rsp)"), "2 u64 base=r15 index=-*1 +8");
}

TEST(UsdtOperand, Memory) {
  EXPECT_EQ(understood("8@-24(%rbp)"), "2 u64 base=r4 index=-*1 -24");
  EXPECT_EQ(understood("-4@112(%rsp)"), "2 s32 signed base=r15 index=-*1 +112");
  EXPECT_EQ(understood("8@0x10(%r9)"), "2 u64 base=r8 index=-*1 +16");
  EXPECT_EQ(understood("-2@(%rsi)"), "2 s16 signed base=r13 index=-*1 ");
  EXPECT_EQ(understood("8@(%rax,%rbx,8)"), "2 u64 base=r10 index=r5*8 ");
  EXPECT_EQ(understood("8@-8(%rax,%rbx)"), "2 u64 base=r10 index=r5*1 -8");
  EXPECT_EQ(understood("4@16(,%rcx,4)"), "2 u32 base=- index=r11*4 +16");
  EXPECT_EQ(understood("4@table(,%rcx,4)"), "2 u32 base=- index=r11*4 table");
}

TEST(UsdtOperand, Symbols) {
  EXPECT_EQ(understood("-4@glob(%rip)"), "2 s32 signed base=- index=-*1 glob");
  EXPECT_EQ(understood("8@glob+4(%rip)"), "2 u64 base=- index=-*1 glob+4");
  EXPECT_EQ(understood("8@4+glob(%rip)"), "2 u64 base=- index=-*1 glob+4");
  EXPECT_EQ(understood("8@count.0-16(%rip)"), "2 u64 base=- index=-*1 count.0-16");
  EXPECT_EQ(understood("8@glob"), "2 u64 base=- index=-*1 glob");
  EXPECT_EQ(understood("8@$.LC0"), "3 u64 base=- index=-*1 .LC0");
  EXPECT_EQ(understood("8@$glob+8"), "3 u64 base=- index=-*1 glob+8");
}

TEST(UsdtOperand, Numbers) {
  EXPECT_EQ(understood("4@$5"), "0 u32 base=- index=-*1 +5");
  EXPECT_EQ(understood("-4@$-7"), "0 s32 signed base=- index=-*1 -7");
  EXPECT_EQ(understood("8@$0xffffffffffffffff"), "0 u64 base=- index=-*1 -1");
  EXPECT_EQ(understood("1@$0"), "0 u8 base=- index=-*1 ");
}

TEST(UsdtOperand, WhatCannotBeReadSaysWhy) {
  EXPECT_EQ(kind_of("8f@%xmm0"), UsdtOperand::Kind::kVector);
  EXPECT_EQ(kind_of("8@%st"), UsdtOperand::Kind::kVector);
  EXPECT_EQ(kind_of("-4@%fs:counter@tpoff"), UsdtOperand::Kind::kThreadLocal);
  for (const char* const text :
       {"8@", "8@%", "8@%rzz", "3@%rax", "16@%xmm0", "-@%rax", "8@%rip", "8@16(%rip)", "8@0x1234", "8@(%rax",
        "8@(%eax)", "8@(%rax,%rbx,3)", "8@(%rax,%rbx,8,1)", "8@()", "8@(%rax,%rip)", "8@$", "8@(%rip,%rax)"}) {
    EXPECT_EQ(kind_of(text), UsdtOperand::Kind::kUnknown) << text;
    EXPECT_FALSE(parse_usdt_operands(text)[0].can_be_read()) << text;
  }
  for (const auto kind : {UsdtOperand::Kind::kVector, UsdtOperand::Kind::kThreadLocal, UsdtOperand::Kind::kNoSymbol,
                          UsdtOperand::Kind::kUnknown}) {
    EXPECT_NE(usdt_refusal(kind), "");
  }
  EXPECT_EQ(usdt_refusal(UsdtOperand::Kind::kMemory), "");
}

TEST(UsdtOperand, SeveralAndNone) {
  EXPECT_EQ(parse_usdt_operands("").size(), 0u);
  EXPECT_EQ(parse_usdt_operands("  ").size(), 0u);
  const auto three = parse_usdt_operands("8@%rbp  -4@%eax 1@$3 ");
  ASSERT_EQ(three.size(), 3u);
  EXPECT_EQ(three[1].size, 4);
  EXPECT_EQ(three[2].number, 3);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "8@%rax ";
  EXPECT_EQ(parse_usdt_operands(many).size(), 128u);
}

}  // namespace
}  // namespace landtrace::language
