// Each form of instruction that is moved is run where it stands and as its copy. The forms are found in the decoder's
// own tables: whatever bytes it takes for an instruction.
#include <Zydis/Zydis.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <iostream>
#include <optional>
#include <set>

#include "code/moved_run_test_support.hpp"
#include "code/relocation.hpp"

namespace landtrace::code::test {
namespace {

using Form = std::vector<std::uint8_t>;

std::optional<ZydisDecodedInstruction> decoded(const Form& bytes) {
  static ZydisDecoder decoder = [] {
    ZydisDecoder made;
    ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return made;
  }();
  ZydisDecodedInstruction found;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, nullptr, bytes.data(), bytes.size(), &found)))
    return std::nullopt;
  return found;
}

// Not run: what enters the kernel or a hypervisor, waits, differs from run to run, or takes the harness's own registers
// away.
bool may_run(const ZydisDecodedInstruction& found) {
  static const std::set<int> categories{
      ZYDIS_CATEGORY_SYSCALL, ZYDIS_CATEGORY_SYSRET,     ZYDIS_CATEGORY_INTERRUPT,
      ZYDIS_CATEGORY_IO,      ZYDIS_CATEGORY_IOSTRINGOP, ZYDIS_CATEGORY_RDRAND,
      ZYDIS_CATEGORY_RDSEED,  ZYDIS_CATEGORY_RDWRFSGS,   ZYDIS_CATEGORY_PKU,
      ZYDIS_CATEGORY_WAITPKG, ZYDIS_CATEGORY_VTX,        ZYDIS_CATEGORY_SGX,
      ZYDIS_CATEGORY_UINTR,   ZYDIS_CATEGORY_KEYLOCKER,  ZYDIS_CATEGORY_KEYLOCKER_WIDE,
      ZYDIS_CATEGORY_SEGOP,   ZYDIS_CATEGORY_RDPRU};
  static const std::set<int> mnemonics{
      ZYDIS_MNEMONIC_RDTSC, ZYDIS_MNEMONIC_RDTSCP, ZYDIS_MNEMONIC_RDPMC, ZYDIS_MNEMONIC_MWAITX, ZYDIS_MNEMONIC_MONITORX,
      ZYDIS_MNEMONIC_VMMCALL, ZYDIS_MNEMONIC_VMCALL, ZYDIS_MNEMONIC_POPFQ, ZYDIS_MNEMONIC_POPF, ZYDIS_MNEMONIC_XSETBV,
      ZYDIS_MNEMONIC_XGETBV, ZYDIS_MNEMONIC_PVALIDATE, ZYDIS_MNEMONIC_XBEGIN,
      // Refused: they raise a signal whose handler may look where they are.
      ZYDIS_MNEMONIC_UD0, ZYDIS_MNEMONIC_UD1, ZYDIS_MNEMONIC_UD2,
      // They could load a state in which nothing runs.
      ZYDIS_MNEMONIC_XRSTOR, ZYDIS_MNEMONIC_XRSTOR64};
  return !categories.contains(found.meta.category) && !mnemonics.contains(found.mnemonic) &&
         (found.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) == 0 && found.meta.branch_type == ZYDIS_BRANCH_TYPE_NONE;
}

// Everything in front of a ModRM byte: prefixes, escape bytes, opcode.
void each_legacy_head(const std::function<void(Form)>& use) {
  const Form prefixes[] = {{},     {0x66},       {0xf2},       {0xf3},       {0xf0},
                           {0x48}, {0x66, 0x48}, {0xf3, 0x48}, {0xf0, 0x48}, {0x44}};
  const Form escapes[] = {{}, {0x0f}, {0x0f, 0x38}, {0x0f, 0x3a}};
  for (const Form& prefix : prefixes) {
    for (const Form& escape : escapes) {
      for (unsigned opcode = 0; opcode < 256; ++opcode) {
        Form head = prefix;
        head.insert(head.end(), escape.begin(), escape.end());
        head.push_back(static_cast<std::uint8_t>(opcode));
        use(head);
      }
    }
  }
}
void each_vex_head(const std::function<void(Form)>& use) {
  for (unsigned map = 1; map <= 3; ++map) {
    for (unsigned low = 0; low < 8; ++low) {  // L, pp
      for (const unsigned w : {0u, 0x80u}) {
        for (const unsigned vvvv : {0x78u, 0x68u}) {  // none; the register 2
          for (unsigned opcode = 0; opcode < 256; ++opcode)
            use({0xc4, static_cast<std::uint8_t>(0xe0 | map), static_cast<std::uint8_t>(w | vvvv | low),
                 static_cast<std::uint8_t>(opcode)});
        }
      }
    }
  }
}
void each_evex_head(const std::function<void(Form)>& use) {
  for (const unsigned map : {1u, 2u, 3u, 5u, 6u}) {
    for (unsigned pp = 0; pp < 4; ++pp) {
      for (const unsigned w : {0u, 0x80u}) {
        for (const unsigned vvvv : {0x78u, 0x68u}) {
          for (const unsigned last : {0x08u, 0x28u, 0x48u, 0x09u, 0x18u, 0x58u}) {  // length, broadcast, mask
            for (unsigned opcode = 0; opcode < 256; ++opcode)
              use({0x62, static_cast<std::uint8_t>(0xf0 | map), static_cast<std::uint8_t>(w | vvvv | 4 | pp),
                   static_cast<std::uint8_t>(last), static_cast<std::uint8_t>(opcode)});
          }
        }
      }
    }
  }
}

// The instruction that begins with `form`, cut to its length; its ModRM byte is `modrm`.
std::optional<Form> completed(Form form, std::uint8_t modrm) {
  const std::size_t modrm_at = form.size();
  form.push_back(modrm);
  form.insert(form.end(), {0, 0, 0, 0, 0x11, 0x22, 0x13, 0x24});
  const auto found = decoded(form);
  if (!found || (found->attributes & ZYDIS_ATTRIB_HAS_MODRM) == 0 || found->raw.modrm.offset != modrm_at ||
      !may_run(*found))
    return std::nullopt;
  form.resize(found->length);
  return form;
}

Case usual(Form bytes) { return {.bytes = std::move(bytes), .registers = usual_registers()}; }

void set_distance(Form& bytes, std::size_t at, std::uint64_t target) {
  const auto distance = static_cast<std::uint32_t>(target - (kPlace + bytes.size()));
  std::memcpy(&bytes[at], &distance, 4);
}

// All forms with that ModRM byte, for each of its 8 registers.
void add_forms(std::uint8_t modrm, std::vector<Case>& cases) {
  const auto use = [&](const Form& head) {
    for (std::uint8_t reg = 0; reg < 8; ++reg) {
      auto form = completed(head, static_cast<std::uint8_t>(modrm | reg << 3));
      if (!form) continue;
      if (modrm == 5) set_distance(*form, head.size() + 1, kOperand);
      cases.push_back(usual(*form));
    }
  };
  each_legacy_head(use);
  each_vex_head(use);
  each_evex_head(use);
}

void expect_same(const std::vector<Case>& cases, std::size_t at_least) {
  EXPECT_GE(cases.size(), at_least);
  const Outcome outcome = compare(cases);
  EXPECT_THAT(outcome.differences, testing::IsEmpty());
  EXPECT_EQ(outcome.run, cases.size());
  std::cout << outcome.run << " forms, of which " << outcome.faulted << " raise a signal here\n";
}

TEST(MovedRunTest, OperandsRelativeToTheInstructionPointerMeanTheSameMemory) {
  std::vector<Case> cases;
  add_forms(0x05, cases);
  expect_same(cases, 5000);
}

TEST(MovedRunTest, InstructionsBetweenRegistersDoTheSameElsewhere) {
  std::vector<Case> cases;
  add_forms(0xc3, cases);
  expect_same(cases, 5000);
}

constexpr std::uint64_t kFlagBits[] = {0x1, 0x4, 0x40, 0x80, 0x800};

// All combinations of the flags that conditions look at.
void add_with_flags(const Form& bytes, std::vector<Case>& cases) {
  for (unsigned bits = 0; bits < 32; ++bits) {
    Case one = usual(bytes);
    for (unsigned i = 0; i < 5; ++i) one.flags |= (bits >> i & 1) != 0 ? kFlagBits[i] : 0;
    cases.push_back(one);
  }
}

TEST(MovedRunTest, ConditionalJumpsGoWhereTheyWent) {
  std::vector<Case> cases;
  for (std::uint8_t condition = 0; condition < 16; ++condition) {
    for (const std::uint8_t distance : std::initializer_list<std::uint8_t>{0x20, 0xe0})
      add_with_flags({static_cast<std::uint8_t>(0x70 | condition), distance}, cases);
    Form far{0x0f, static_cast<std::uint8_t>(0x80 | condition), 0, 0, 0, 0};
    set_distance(far, 2, kFarTarget);
    add_with_flags(far, cases);
    add_with_flags({0x2e, static_cast<std::uint8_t>(0x70 | condition), 0x20}, cases);  // a hint
  }
  expect_same(cases, 16 * 4 * 32);
}

TEST(MovedRunTest, LoopsCountAndGoWhereTheyWent) {
  std::vector<Case> cases;
  for (const std::uint8_t opcode : std::initializer_list<std::uint8_t>{0xe0, 0xe1, 0xe2, 0xe3}) {
    for (const Form& head : {Form{}, Form{0x67}}) {
      for (const std::uint64_t count : {0ull, 1ull, 2ull, 0x1'0000'0000ull, 0x1'0000'0001ull}) {
        for (const std::uint8_t distance : std::initializer_list<std::uint8_t>{0x30, 0xd0}) {
          for (const std::uint64_t flags : {0x2ull, 0x42ull}) {
            Form bytes = head;
            bytes.insert(bytes.end(), {opcode, distance});
            Case one = usual(bytes);
            one.registers[kCx] = count;
            one.flags = flags;
            cases.push_back(one);
          }
        }
      }
    }
  }
  expect_same(cases, 160);
}

TEST(MovedRunTest, DirectJumpsAndCallsGoWhereTheyWentAndCallsComeBackToTheOriginal) {
  std::vector<Case> cases{usual({0xeb, 0x40}), usual({0xeb, 0xc0})};
  for (const Form& head :
       {Form{0xe9}, Form{0xe8}, Form{0x67, 0xe8}, Form{0x66, 0x66, 0x48, 0xe8}, Form{0xf2, 0xe8}, Form{0xf2, 0xe9}}) {
    Form bytes = head;
    bytes.resize(head.size() + 4);
    set_distance(bytes, head.size(), kFarTarget);
    cases.push_back(usual(bytes));
  }
  expect_same(cases, 8);
}

TEST(MovedRunTest, ReturnsGoWhereTheyWent) {
  expect_same({usual({0xc3}), usual({0xf3, 0xc3}), usual({0xc2, 0x10, 0x00}), usual({0xf2, 0xc3})}, 4);
}

// call or jmp through any operand, which points to kFarTarget.
void add_indirect(std::uint8_t digit, std::vector<Case>& cases) {
  for (const std::uint8_t rex : std::initializer_list<std::uint8_t>{0x00, 0x40, 0x41, 0x42, 0x43, 0x48}) {
    for (unsigned modrm = 0; modrm < 256; ++modrm) {
      if ((modrm >> 3 & 7) != digit) continue;
      const unsigned mod = modrm >> 6, rm = modrm & 7;
      const bool has_sib = mod != 3 && rm == 4;
      for (unsigned sib = 0; sib < (has_sib ? 256u : 1u); ++sib) {
        Form bytes;
        if (rex != 0) bytes.push_back(rex);
        bytes.insert(bytes.end(), {0xff, static_cast<std::uint8_t>(modrm)});
        if (has_sib) bytes.push_back(static_cast<std::uint8_t>(sib));
        const bool is_absolute = mod == 0 && has_sib && (sib & 7) == 5;
        const bool is_relative = mod == 0 && rm == 5;
        if (mod == 1) bytes.push_back(0x18);
        const std::size_t distance_at = bytes.size();
        if (mod == 2 || is_absolute || is_relative) bytes.insert(bytes.end(), {0x28, 0, 0, 0});
        if (is_relative) set_distance(bytes, distance_at, kPointers + 0x100);
        Case one = usual(bytes);
        one.registers[kCx] = kPointers + 0x840;
        const unsigned base = (has_sib ? sib & 7 : rm) | (rex & 1u) << 3;
        const unsigned index = (sib >> 3 & 7) | (rex & 2u) << 2;
        const bool has_index = has_sib && index != 4;
        if (mod == 3) {
          one.registers[base] = kFarTarget;
          if (base == kSp) continue;
        }
        // No 32 bits reach the data, and one register cannot be both.
        if (is_absolute || (has_index && index == base)) continue;
        if (has_index) one.registers[index] = 0x10;
        cases.push_back(one);
      }
    }
  }
}

TEST(MovedRunTest, IndirectJumpsGoWhereTheyWent) {
  std::vector<Case> cases;
  add_indirect(4, cases);
  expect_same(cases, 3000);
}

TEST(MovedRunTest, IndirectCallsGoWhereTheyWentAlsoThroughTheStackAndComeBackToTheOriginal) {
  std::vector<Case> cases;
  add_indirect(2, cases);
  expect_same(cases, 3000);
}

bool moves(const Form& bytes) {
  const auto instruction = decode(bytes);
  agent::Recipe recipe{};
  return instruction && append_moved(recipe, *instruction, bytes, 0);
}

TEST(MovedRunTest, WhatCannotBeMovedIsRefused) {
  EXPECT_FALSE(moves({0xc7, 0xf8, 0, 0, 0, 0})) << "xbegin";
  EXPECT_FALSE(moves({0xcc})) << "int3";
  EXPECT_FALSE(moves({0x0f, 0x0b})) << "ud2";
  EXPECT_FALSE(moves({0xf4})) << "hlt";
  EXPECT_FALSE(moves({0x67, 0x48, 0x8b, 0x05, 0, 0, 0, 0})) << "mov rax, [eip]";
  EXPECT_FALSE(moves({0x66, 0xe8, 0, 0, 0, 0})) << "call of 16 bits, on some processors";
  EXPECT_FALSE(moves({0x66, 0x70, 0x10})) << "jcc of 16 bits";
  EXPECT_FALSE(moves({0xff, 0xd4})) << "call rsp";
  EXPECT_FALSE(moves({0xff, 0x54, 0x24, 0xf8})) << "call [rsp - 8], which the push overwrites";
  EXPECT_FALSE(moves({0xff, 0x18})) << "far call";
  EXPECT_FALSE(moves({0xff, 0x2d, 0, 0, 0, 0})) << "far jmp";
  EXPECT_FALSE(moves({0xcb})) << "far ret";
  EXPECT_FALSE(moves({0x48, 0xcf})) << "iret";
  EXPECT_TRUE(moves({0x0f, 0x05})) << "syscall";
  EXPECT_TRUE(moves({0xf3, 0x0f, 0x1e, 0xfa})) << "endbr64";
}

}  // namespace
}  // namespace landtrace::code::test
