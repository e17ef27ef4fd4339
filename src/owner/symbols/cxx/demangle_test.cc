#include <cxxabi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "symbols/elf_file.hpp"
#include "symbols/symbols.hpp"

namespace landtrace::symbols {
namespace {

// "" of what is no name.
std::string by_library(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return text ? text.get() : "";
}

std::vector<std::string> names_of_this_program() {
  const auto section = ElfFile::open("/proc/self/exe")->symbols(SHT_SYMTAB);
  std::vector<std::string> names;
  for (const Elf64_Sym& symbol : section.symbols) {
    if (symbol.st_name >= section.names.size()) continue;
    names.emplace_back(section.names.c_str() + symbol.st_name);
    if (!names.back().starts_with("_Z")) names.pop_back();
  }
  return names;
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

struct Case {
  const char* name;
  const char* text;
};

// As GNU's demangler writes them, of GCC 12; behind a blank line of later ones, of GCC 14.
constexpr Case kCases[] = {
    {"_ZN3app4JsoncvN2ns3BoxIT_EEIiEEv", "app::Json::operator ns::Box<int><int>()"},
    {"_ZN3app4JsoncvSt6vectorIT_SaIS2_EEIiEEv", "app::Json::operator std::vector<int, std::allocator<int> ><int>()"},
    {"_ZN3app4JsoncvN2ns3BoxINS2_IT_EEEEIcEEv", "app::Json::operator ns::Box<ns::Box<char> ><char>()"},
    {"_ZN1A1fERKiPS_", "A::f(int const&, A*)"},
    {"_ZNSsC1Ev", "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string()"},
    {"_ZNSaIiED1Ev", "std::allocator<int>::~allocator()"},
    {"_ZN1AC1B3abiEv", "A::A[abi:abi]()"},
    {"_ZN1BCI11AEi", "B::A(int)"},
    {"_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f()"},
    {"_ZN1AcvT_I1BIiEEEv", "A::operator B<int><B<int> >()"},
    {"_ZN1AcvT_IiEI1CEEv", "A::operator C<int><C>()"},
    {"_ZN1AcvPFivEEv", "A::operator int (*)()()"},
    {"_ZN1AlsIiEEvv", "void A::operator<< <int>()"},
    {"_Zli2_si", "operator\"\" _s(int)"},
    {"_ZdaPv", "operator delete[](void*)"},
    {"_ZNKR1A1fEv", "A::f() const &"},
    {"_ZThn8_N1A1fEv", "non-virtual thunk to A::f()"},
    {"_ZTv0_n24_N1A1fEv", "virtual thunk to A::f()"},
    {"_ZTcv0_n24_v0_n24_N1A1fEv", "covariant return thunk to A::f()"},
    {"_ZTC1A0_1B", "construction vtable for B-in-A"},
    {"_ZGVZ1fvE1x", "guard variable for f()::x"},
    {"_ZZ1fvEs_0", "f()::string literal"},
    {"_ZZ1fvEd0_NKUlvE_clEv", "f()::{default arg#2}::{lambda()#1}::operator()() const"},
    {"_ZZ1gIiEvT_ENKUlS0_E_clIiEEDaS0_", "auto g<int>(int)::{lambda(auto:1)#1}::operator()<int>(int) const"},
    {"_Z1fv.isra.0.cold", "f() [clone .isra.0] [clone .cold]"},
    {"_Z1fPFPFivEvE", "f(int (*(*)())())"},
    {"_Z1fA2_PA3_i", "f(int (* [2]) [3])"},
    {"_Z1fM1AKFivEMS_i", "f(int (A::*)() const, int A::*)"},
    {"_Z1fIPFivEET_v", "int (*f<int (*)()>())()"},
    {"_Z1fIA3_cEvRKT_", "void f<char [3]>(char const (&) [3])"},
    {"_Z1fIRiEvOT_", "void f<int&>(int&)"},
    {"_Z1fIKiEvRKT_", "void f<int const>(int const&)"},
    {"_Z1fDv4_fu10__float128U8__vectoriCf", "f(float __vector(4), __float128, int __vector, float _Complex)"},
    {"_Z1fPDoFvvEPDwiEFvvE", "f(void (*)() noexcept, void (*)() throw(int))"},
    {"_Z1fILb1ELc97ELin5ELm6EL1A3ELPv0EEvv", "void f<true, (char)97, -5, 6ul, (A)3, (void*)0>()"},
    {"_Z1fIXadL_Z1gvEEXadL_ZN1A1gEvEEEvv", "void f<&(g()), &A::g>()"},
    {"_Z1fIJidEEvDpT_", "void f<int, double>(int, double)"},
    {"_Z1fIJidEEvDpPT_St5tupleIJDpS0_EE", "void f<int, double>(int*, double*, std::tuple<int, double>)"},
    {"_Z1fIJLi1ELi2EEEDTfLplLi0ET_Ev", "decltype (((0)+...+(1, 2))) f<1, 2>()"},
    {"_Z1fIJidEEv1AIXsZT_EE", "void f<int, double>(A<2>)"},
    {"_Z1fIiEDTcmfp_Li3EEv", "decltype ({parm#1},(3)) f<int>()"},
    {"_Z1fIiEvDTgtLi1ELi2EE", "void f<int>(decltype (((1)>(2))))"},
    {"_Z1fIiEvDTquLi1ELi2ELi3EE", "void f<int>(decltype ((1)?(2) : (3)))"},
    {"_Z1fIiEvDTnwLi1E_T_piLi1EEE", "void f<int>(decltype (new (1) int(1)))"},
    {"_Z1fIiEvDTtlT_di1aLi1EEE", "void f<int>(decltype (int{.a=(1)}))"},
    {"_Z1fI1xEvDTsr1yE1zE", "void f<x>(decltype (y::z))"},
    {"_Z1fIiEvNSt9enable_ifIXsrSt7is_sameIiT_E5valueEvE4typeE",
     "void f<int>(std::enable_if<std::is_same<int, int>::value, void>::type)"},
    {"_Z1fIiEvPAatT__c", "void f<int>(char (*) [alignof (int)])"},
    // A template parameter of a function's name and of the lambda in it is one candidate.
    {"_Z1fIZ1gvEUlT_E_EvS0_", "void f<g()::{lambda(auto:1)#1}>(g()::{lambda(auto:1)#1})"},
    {"_Z1fIZ1gvEUt_1AIiES2_EvT_T0_T1_",
     "void f<g()::{unnamed type#1}, A<int>, A<int> >(g()::{unnamed type#1}, A<int>, A<int>)"},

    {"_ZZN1XIfLj0EE2FnEvENKUlTyfT_E_clIiEEDafS1_",
     "auto X<float, 0u>::Fn()::{lambda<typename $T0>(float, $T0)#1}::operator()<int>(float, int) const"},
    {"_Z1fIZ4mainEUlTpTyDpOT_E_EvS0_",
     "void f<main::{lambda<typename... $T0>(($T0&&)...)#1}>(main::{lambda<typename... $T0>(($T0&&)...)#1})"},
    {"_ZZ1fvENKUlTnivE_clILi3EEEDav", "auto f()::{lambda<int $N0>()#1}::operator()<3>() const"},
    {"_Z1fIiEvvQ1CIT_E", "void f<int>() requires C<int>"},
    {"_Z1fIiQsr3stdE8integralIT_EEiS0_", "int f<int>(int)"},
    {"_ZN1AF1fEv", "A::f[friend]()"},
    {"_ZW1M1fv", "f@M()"},
    {"_Z1fDF16_DF16bDF32x", "f(_Float16, std::bfloat16_t, _Float32x)"},
    {"_Z1fIiEvDTnxfp_E", "void f<int>(decltype (noexcept({parm#1})))"},
    {"_Z1fIiEDTu3abcT_EEv", "decltype (abc(int)) f<int>()"},
};

TEST(DemangleTest, Cases) {
  for (const Case& one : kCases) EXPECT_EQ(demangle(one.name), one.text) << one.name;
}

// All of this program's: what the library knows is known, and nearly all of it is written alike. Not what the library
// gets wrong: it counts unnamed types as candidates, and leaves commas and ">>" where a pack is empty.
TEST(DemangleTest, NamesOfACompiler) {
  std::size_t known = 0, differing = 0;
  for (const std::string& name : names_of_this_program()) {
    const std::string text = by_library(name);
    if (text.empty()) continue;
    ++known;
    EXPECT_NE(demangle(name), name);
    differing += demangle(name) != text ? 1 : 0;
  }
  EXPECT_GT(known, 1000u);
  EXPECT_LT(differing, known / 50);
}

TEST(DemangleTest, VersionsAreNoPartOfAName) { EXPECT_EQ(demangle("_ZN1A1fEv@@GLIBCXX_3.4"), "A::f()"); }

TEST(DemangleTest, LongNamesAreDemangled) {
  std::string name = "_Z1f";
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    name += "St6vectorIiE";
    text += std::string(i == 0 ? "" : ", ") + "std::vector<int>";
  }
  EXPECT_EQ(demangle(name), "f(" + text + ")");
  // More than 10,000 bytes of text, by substitutions.
  std::string pairs = doubled(7);
  ASSERT_GT(by_library(pairs).size(), 4000u);
  while (by_library(pairs).size() < 10'000) pairs += substitution(7);
  EXPECT_TRUE(demangle(pairs) == by_library(pairs));
}

// Each would take a machine's memory, or years.
TEST(DemangleTest, ANameThatStandsForMoreThanAnyMemoryStaysAsItIs) {
  EXPECT_EQ(demangle(doubled(1)), "f(a<int, int>, a<a<int, int>, a<int, int> >)");
  for (const unsigned times : {13u, 20u, 60u, 1000u}) ASSERT_TRUE(demangle(doubled(times)) == doubled(times)) << times;
  const auto behind = [](std::string name, unsigned first, unsigned times) {
    for (unsigned i = 0; i < times; ++i, first += 3) {
      name += "1aI" + substitution(first) + substitution(first) + "EPi";
    }
    return name;
  };
  // Behind whatever may count as a candidate: one of these numbers is that of what is doubled.
  for (const char* const odd :
       {"_Z1fIZ1gvEUlvE_IiEEv", "_Z1fAstZ1gvEUt__1_i", "_Z1fIZ1gvEUt_Ev", "_Z1fDTL_Z1gvEE", "_Z1fN1bUlT_E_E",
        "_Z1fIDtsr1b1cEEv", "_Z1fW1M1b", "_Z1fSsB1b", "_Z1fPDoFvvE", "_Z1fIiEvNDTfp_E1bE"}) {
    unsigned doubled_ones = 0;
    for (unsigned first = 0; first < 12; ++first) {
      const std::string name = behind(std::string(odd) + "1aIiiEPi", first, 40);
      const std::string text = demangle(name);
      EXPECT_LE(text.size(), 32'768u) << name;
      if (text == name) ++doubled_ones;
    }
    EXPECT_GT(doubled_ones, 0u) << odd;
  }
}

// By other ways than substitutions.
TEST(DemangleTest, SoDoesOneThatExpandsPacksOrArguments) {
  const auto stays = [](const std::string& name) { return demangle(name) == name; };
  std::string packs = "_Z1fIJiiiiiiiiiiEEv";
  for (int i = 0; i < 12; ++i) packs += "DpF";
  EXPECT_TRUE(stays(packs + "T_T_" + std::string(12, 'E')));
  // Parts without text.
  std::string empty = "_Z1fIJJEJEJEJEJEJEJEJEJEJEEEv";
  for (int i = 0; i < 30; ++i) empty += "DpM";
  EXPECT_LE(demangle(empty + "T_" + std::string(30, 'i')).size(), 32'768u);
  std::string arguments = "1aIiiE";
  for (unsigned i = 2; i <= 31; ++i) arguments += "S0_I" + substitution(i) + substitution(i) + "E";
  EXPECT_TRUE(stays("_Z1fI" + arguments + "EvT_"));
  // Conversions' arguments are read on trial.
  std::string conversions = "_ZN1A";
  for (int i = 0; i < 100; ++i) conversions += "cvT_IN1A";
  conversions += "1b";
  for (int i = 0; i < 100; ++i) conversions += "EE";
  EXPECT_TRUE(stays(conversions + "Ev"));
  EXPECT_TRUE(stays("_ZngI11cRnwDOXLZZ1XsrnwD"));
}

TEST(DemangleTest, SoDoesOneThatIsNestedDeeply) {
  for (const char* const part :
       {"N",  "P",     "F",    "A_",     "M",   "1aI", "J",  "Dp",  "DTpl", "Z",    "L",    "X",  "Ul",
        "cv", "St1aI", "N1aI", "DTcvT_", "M1a", "Kr",  "sr", "srN", "TyTt", "1fIX", "U1aI", "DO", "Z1fIXadL_"}) {
    for (const char* const end : {"", "i", "T_E"}) {
      std::string name = "_Z1fI";
      while (name.size() < 100'000) name += part;
      name += end;
      EXPECT_TRUE(demangle(name) == name) << part << " " << end;
    }
  }
}

// Names that are damaged at random: memory, time and stack are bounded.
TEST(DemangleTest, DamagedNames) {
  std::minstd_rand random(1);
  constexpr const char* kParts[] = {"S_", "S0_", "S1_", "T_", "Dp", "I",   "E", "1aI", "N",
                                    "Ul", "E_",  "sr",  "cv", "P",  "TyT", "J", "Z",   "L_Z"};
  unsigned known = 0;
  for (std::string name : names_of_this_program()) {
    for (auto i = random() % 3; i < 3; ++i) {
      if (name.size() < 3) break;
      const std::size_t at = 2 + random() % (name.size() - 1);
      if (random() % 2 == 0) {
        name.insert(at, kParts[random() % std::size(kParts)]);
      } else if (at < name.size()) {
        name.erase(at, 1 + random() % 2);
      }
    }
    const std::string text = demangle(name);
    EXPECT_LE(text.size(), std::max<std::size_t>(name.size(), 32'768));
    if (text != name) ++known;
  }
  EXPECT_GT(known, 100u);
}

TEST(DemangleTest, WhatIsNoNameStaysAsItIs) {
  for (const char* const name : {"", "_", "_Z", "_Z1", "_Z5abc", "main", "_Z1fS_", "_Z1fIiEvS9_", "_ZN1aE1", "_Z1fT_",
                                 "_Z1fIiEvT0_", "_Z1KIStcvT_E", "_ZcvT_IIS0_EE", "_Z1gIJOOT_EEOT_c", "_ZC1v",
                                 "_Z1fIJEEvDpOOT_T0_", "_Z4294967297x", "_ZZ3foovE8localVar__12"}) {
    EXPECT_EQ(demangle(name), name);
  }
}

}  // namespace
}  // namespace landtrace::symbols
