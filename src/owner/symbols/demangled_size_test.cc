#include "symbols/demangled_size.hpp"

#include <cxxabi.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>

#include "symbols/elf_file.hpp"
#include "symbols/symbols.hpp"

namespace landtrace::symbols {
namespace {

constexpr std::uint64_t kUnknown = ~0ull;

// "" of what is no name.
std::string by_library(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return text ? text.get() : "";
}

// "S_", "S0_", … "SA_"
std::string substitution(unsigned number) {
  if (number == 0) return "S_";
  std::string digits;
  for (--number; digits.empty() || number > 0; number /= 36) {
    digits.insert(digits.begin(), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number % 36]);
  }
  return "S" + digits + "_";
}

// a<int, int>, and each time a<X, X> of the one before.
std::string doubled(unsigned times) {
  std::string name = "_Z1f1aIiiE";
  for (unsigned i = 1; i <= times; ++i) name += "S_I" + substitution(i) + substitution(i) + "E";
  return name;
}

TEST(DemangledSizeTest, ANameThatStandsForMoreThanAnyMemoryStaysAsItIs) {
  EXPECT_EQ(demangle(doubled(1)), "f(a<int, int>, a<a<int, int>, a<int, int> >)");
  for (const unsigned times : {13u, 20u, 60u, 100u}) ASSERT_TRUE(demangle(doubled(times)) == doubled(times)) << times;
}

// By other ways than substitutions.
TEST(DemangledSizeTest, SoDoesOneThatExpandsPacksOrArguments) {
  const std::string ten = "iiiiiiiiii";
  std::string packs = "_Z1fIJ" + ten + "EEv";
  for (int i = 0; i < 12; ++i) packs += "DpF";
  packs += "T_T_";
  packs += std::string(12, 'E');
  EXPECT_GT(demangled_size_at_most(packs), 1ull << 30);
  std::string arguments = "1aIiiE";
  for (unsigned i = 2; i <= 31; ++i) arguments += "S0_I" + substitution(i) + substitution(i) + "E";
  EXPECT_GT(demangled_size_at_most("_Z1fI" + arguments + "EvT_"), 1ull << 30);
}

// Whoever takes an I or a number for the closure's or the unnamed type's counts other candidates than the library.
TEST(DemangledSizeTest, UnnamedTypesAreReadAsTheLibraryDoes) {
  const auto behind_closure = [](unsigned times) {
    std::string name = "_Z1fIZ1gvEUlvE_IiEEv1aIiiEPi";
    for (unsigned i = 0; i < times; ++i) name += "1aI" + substitution(3 + 3 * i) + substitution(3 + 3 * i) + "EPi";
    return name;
  };
  const auto behind_number = [](unsigned times) {
    std::string name = "_Z1fAstZ1gvEUt__1_i1aIiiEPi";
    for (unsigned i = 0; i < times; ++i) name += "1aI" + substitution(5 + 3 * i) + substitution(5 + 3 * i) + "EPi";
    return name;
  };
  EXPECT_GE(demangled_size_at_most(behind_closure(3)), by_library(behind_closure(3)).size());
  EXPECT_GE(demangled_size_at_most(behind_number(3)), by_library(behind_number(3)).size());
  EXPECT_GT(demangled_size_at_most(behind_closure(40)), 1ull << 30);
  EXPECT_GT(demangled_size_at_most(behind_number(40)), 1ull << 30);
}

TEST(DemangledSizeTest, LongNamesAreDemangled) {
  std::string name = "_Z1f";
  std::string text;
  for (int i = 0; i < 120; ++i) {
    name += "St6vectorIiE";
    text += std::string(i == 0 ? "" : ", ") + "std::vector<int>";
  }
  EXPECT_EQ(by_library(name), name.size() <= 1024 ? "f(" + text + ")" : "") << "the library's limit is another one";
  name.resize(4 + 80 * 12);
  EXPECT_EQ(demangle(name), by_library(name));
  // More than 10,000 bytes of text, by substitutions.
  std::string pairs = doubled(7);
  ASSERT_GT(by_library(pairs).size(), 4000u);
  while (by_library(pairs).size() < 10'000) pairs += substitution(7);
  EXPECT_TRUE(demangle(pairs) == by_library(pairs));
}

// All of this program's: each is understood, and no text is longer than was said.
TEST(DemangledSizeTest, HoldsForNamesOfACompiler) {
  const auto section = ElfFile::open("/proc/self/exe")->symbols(SHT_SYMTAB);
  std::size_t names = 0;
  for (const Elf64_Sym& symbol : section.symbols) {
    if (symbol.st_name >= section.names.size()) continue;
    const std::string name = section.names.c_str() + symbol.st_name;
    const std::string text = name.starts_with("_Z") ? by_library(name) : "";
    if (text.empty()) continue;
    ++names;
    EXPECT_GE(demangled_size_at_most(name), text.size()) << name;
    EXPECT_LT(demangled_size_at_most(name), 64u << 20) << name;
  }
  EXPECT_GT(names, 1000u);
}

TEST(DemangledSizeTest, HoldsForWhatIsRare) {
  for (const char* const name : {"_Z1fIiEvZ1gvEUlvE_S0_",
                                 "_Z1fIiEvZ1gvEUt_S1_",
                                 "_Z1fI1xEvDTsr1yE1zES1_",
                                 "_Z1fI1xEvDTsr1yIiE1zES2_",
                                 "_Z1fIiEDTcmfp_Li3EES_",
                                 "_Z1fIiEDTflplT_ES_",
                                 "_Z1fIiEDTgsnw_T_piLi1EEES_",
                                 "_Z1fIiEDTcvT_Li1EES_",
                                 "_Z1fIiEDTpp_Li1EES_",
                                 "_Z1fIiEDTtlT_Li1ELi2EEES_",
                                 "_ZN1AcvT_IiEEv",
                                 "_ZN1AcvT_I1BIiEEEv",
                                 "_Zli2_si",
                                 "_ZThn8_N1A1fEv",
                                 "_ZTv0_n24_N1A1fEv",
                                 "_ZTcv0_n24_v0_n24_N1A1fEv",
                                 "_ZGVZ1fvE1x",
                                 "_ZTC1A0_1B",
                                 "_Z1fDv4_fu10__float128U8__vectori",
                                 "_ZN1AC1B3abiEv",
                                 "_ZN1BCI11AEi",
                                 "_Z1fM1AKFivEMS_i",
                                 "_ZNO1A1fEv",
                                 "_Z1fPDoFvvEPDxFviEA3_iA_i",
                                 "_ZZ1fvEs_0",
                                 "_ZZ1fvENK1AclEv",
                                 "_Z1fv.isra.0.cold",
                                 "_Z1fv.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a",
                                 "_ZNSsC1Ev",
                                 "_ZN12_GLOBAL__N_11fEv",
                                 "_Z1fIXadL_Z1gvEEEvv",
                                 "_Z1fILPKc0EEvv",
                                 "_Z1fIJidEEvDpT_",
                                 "_Z1fIJEEvDpT_"}) {
    const std::string text = by_library(name);
    EXPECT_NE(text, "") << name;
    EXPECT_GE(demangled_size_at_most(name), text.size()) << name;
    EXPECT_EQ(demangle(name), text);
  }
}

// Names that are damaged at random: whatever is understood has no longer text.
TEST(DemangledSizeTest, HoldsForDamagedNames) {
  std::minstd_rand random(1);
  const auto section = ElfFile::open("/proc/self/exe")->symbols(SHT_SYMTAB);
  constexpr const char* kParts[] = {"S_", "S0_", "S1_", "T_", "Dp", "I", "E", "1aI", "N", "Ul", "E_", "sr", "cv", "P"};
  unsigned understood = 0;
  for (const Elf64_Sym& symbol : section.symbols) {
    if (symbol.st_name >= section.names.size()) continue;
    std::string name = section.names.c_str() + symbol.st_name;
    if (!name.starts_with("_Z") || name.size() > 300) continue;
    for (auto i = random() % 3; i < 3; ++i) {
      const std::size_t at = 2 + random() % (name.size() - 1);
      if (random() % 2 == 0) {
        name.insert(at, kParts[random() % std::size(kParts)]);
      } else {
        name.erase(at, 1 + random() % 2);
      }
      if (name.size() < 3) break;
      const std::uint64_t most = demangled_size_at_most(name);
      if (most > 64u << 20) continue;
      ++understood;
      EXPECT_LE(by_library(name).size(), most) << name;
    }
  }
  EXPECT_GT(understood, 100u);
}

TEST(DemangledSizeTest, WhatIsNoNameIsNotUnderstood) {
  for (const char* const name : {"", "_", "_Z", "_Z1", "_Z5abc", "main", "_Z1fS_", "_Z1fIiEvS9_", "_ZN1aE1"}) {
    EXPECT_EQ(demangled_size_at_most(name), kUnknown) << name;
  }
  // The library's demangler takes minutes to find that out.
  EXPECT_EQ(demangled_size_at_most("_ZngI11cRnwDOXLZZ1XsrnwD"), kUnknown);
  EXPECT_EQ(demangled_size_at_most("_Z" + std::string(100'000, 'N')), kUnknown);
  EXPECT_EQ(demangled_size_at_most("_Z1f" + std::string(100'000, 'P') + "i"), kUnknown);
}

}  // namespace
}  // namespace landtrace::symbols
