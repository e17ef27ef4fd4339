#include "symbols/short_name.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace landtrace::symbols {
namespace {

// Template arguments of 70 characters, with all that can be mistaken for their end.
const std::string kLong =
    "<(bool)((sizeof (int))>(2)), decltype (a->b), char [3]{(char)60, (char)62}, std::vector<int, X<int> > >";

TEST(ShortNameTest, ShortNamesStay) {
  for (const char* const name : {"main", "std::vector<int>::push_back(int const&)", "operator<", ""}) {
    EXPECT_EQ(short_name(name), name);
  }
}

TEST(ShortNameTest, TemplateArgumentsOfLongNamesGo) {
  EXPECT_EQ(short_name("a::B" + kLong + "::emit(unsigned int)"), "a::B<...>::emit(unsigned int)");
  EXPECT_EQ(short_name("int a::f" + kLong + "(std::vector<int>) const"), "int a::f<...>(std::vector<...>) const");
  EXPECT_EQ(short_name("A" + kLong + "::B" + kLong + "::f()"), "A<...>::B<...>::f()");
}

TEST(ShortNameTest, OperatorsAreNoTemplateArguments) {
  EXPECT_EQ(short_name("A" + kLong + "::operator<(A const&) const"), "A<...>::operator<(A const&) const");
  EXPECT_EQ(short_name("std::ostream& operator<< <char>(A" + kLong + " const&)"),
            "std::ostream& operator<< <...>(A<...> const&)");
  EXPECT_EQ(short_name("A" + kLong + "::operator->()"), "A<...>::operator->()");
  EXPECT_EQ(short_name("A" + kLong + "::operator()(int) const"), "A<...>::operator()(int) const");
  EXPECT_EQ(short_name("my_operator" + kLong + "(int)"), "my_operator<...>(int)");
}

TEST(ShortNameTest, LambdasAndAnonymousNamespacesKeepTheirNames) {
  EXPECT_EQ(short_name("(anonymous namespace)::f" + kLong + "(int)::{lambda(int)#1}::operator()(int) const"),
            "(anonymous namespace)::f<...>(int)::{lambda(int)#1}::operator()(int) const");
}

TEST(ShortNameTest, ThenParametersGo) {
  const std::string many(100, 'x');
  EXPECT_EQ(short_name("(anonymous namespace)::f<int>(" + many + ") const"),
            "(anonymous namespace)::f<...>(...) const");
  EXPECT_EQ(short_name("A::operator()(" + many + ")"), "A::operator()(...)");
}

TEST(ShortNameTest, WhatIsNotClosedStays) {
  for (const char* const end : {"<", "<(", ">", ")", "<)", "}>", "<<<"}) {
    const std::string name = std::string(100, 'x') + end;
    EXPECT_EQ(short_name(name), name);
  }
}

// Looking for the end of each by itself would take hours.
TEST(ShortNameTest, ManyThatAreNotClosedCostNoMoreThanTheirNumber) {
  const std::string name(4u << 20, '<');
  EXPECT_EQ(short_name(name), name);
}

TEST(WrittenNameTest, IsThatOfTheSourceWithoutWhatIsReturned) {
  for (const auto& [linked, whole, plain] :
       {std::tuple("_ZN2ns1A1fEic", "ns::A::f(int, char)", "ns::A::f"),
        std::tuple("_ZNK2ns1A1fEm", "ns::A::f(unsigned long) const", "ns::A::f"),
        std::tuple("_ZN2ns1gIiEET_S1_", "ns::g<int>(int)", "ns::g<int>"),
        std::tuple("_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f()", "(anonymous namespace)::f"),
        std::tuple("_ZN1AclEi", "A::operator()(int)", "A::operator()"),
        std::tuple("_ZN1AcvmEv", "A::operator unsigned long()", "A::operator unsigned long"),
        std::tuple("_ZZ1fiENKUlcE_clEc", "f(int)::{lambda(char)#1}::operator()(char) const",
                   "f(int)::{lambda(char)#1}::operator()"),
        std::tuple("_ZTS1A", "A", "A"), std::tuple("malloc", "malloc", "malloc"),
        std::tuple("memcpy@GLIBC_2.2.5", "memcpy", "memcpy"), std::tuple("_Z", "_Z", "_Z")}) {
    const WrittenName name(linked);
    EXPECT_EQ(name.whole(), whole) << linked;
    EXPECT_EQ(name.plain(), plain) << linked;
  }
}

TEST(WrittenNameTest, SpacesAndWhatStandsBehindParametersNeedNotBeWritten) {
  const WrittenName name("_ZNK2ns1A1fEmc");
  for (const char* const text : {"ns::A::f", "ns::A::f(unsigned long, char)", "ns::A::f(unsignedlong,char)",
                                 "ns::A::f(unsigned long, char) const", "ns::A::f(unsignedlong,char)const"}) {
    EXPECT_TRUE(name.is(text)) << text;
  }
  for (const char* const text : {"", "f", "A::f", "ns::A::f()", "ns::A::f(unsigned long)", "_ZNK2ns1A1fEmc",
                                 "ns::A::f(unsigned long, char) volatile"}) {
    EXPECT_FALSE(name.is(text)) << text;
  }
}

}  // namespace
}  // namespace landtrace::symbols
