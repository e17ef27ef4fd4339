#include "symbols/short_name.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace landtrace::symbols
