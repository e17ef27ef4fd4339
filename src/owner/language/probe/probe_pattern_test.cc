#include "language/probe/probe_pattern.hpp"

#include <gtest/gtest.h>

namespace landtrace::language {
namespace {

// "FRONT|OBJECT|PATTERN|SUFFIX|ARGUMENTS", or "none".
std::string parts(const char* line, ProbeFamily family = ProbeFamily::kUprobe) {
  const auto made = ProbePattern::parse(family, line);
  if (!made) return "none";
  return made->front + "|" + made->object + "|" + made->pattern + "|" + made->suffix + "|" + made->arguments +
         (made->is_return ? " r" : "");
}

TEST(ProbePattern, IsTakenApart) {
  EXPECT_EQ(parts("p:g/* /lib/l.so:png_*  a=%di   b=%si"), "p:g/|/lib/l.so|png_*|| a=%di b=%si");
  EXPECT_EQ(parts("r:* l:png_?"), "r:|l|png_?|| r");
  EXPECT_EQ(parts("p:* l:[ab]*%return"), "p:|l|[ab]*|%return| r");
  EXPECT_EQ(parts("p:g.* l:*(0x10)"), "p:g.|l|*|(0x10)|");
  EXPECT_EQ(parts("p:g/* l:ns::a*"), "p:g/|l|ns::a*||");
  EXPECT_EQ(parts("p:g/* l:puts"), "p:g/|l|puts||");
  EXPECT_EQ(ProbePattern::parse(ProbeFamily::kUprobe, "p:g/* l:x")->group, "g");
  EXPECT_EQ(ProbePattern::parse(ProbeFamily::kUprobe, "p:* l:x")->group, "uprobes");
  EXPECT_EQ(ProbePattern::parse(ProbeFamily::kKprobe, "p:* l:x*")->group, "kprobes");
}

TEST(ProbePattern, WhatMeansOneEventOrWhatTheKernelTakesOrRefusesIsNone) {
  for (const char* const line :
       {"", "p", "p:g/e l:puts", "p:g/e l:a*", "p l:a*", "p:g/ l:a*", "p:g/a* l:a*", "p:g/* /bin/app:0x10",
        "p:g/* /bin/a:b*:16", "p:g/* puts", "p:g/* l:", "x:g/* l:a*", "-:g/*", "q l:*"}) {
    EXPECT_EQ(parts(line), "none") << line;
  }
  // Any letters may be a function's of a module that is not there; no event is called *.
  EXPECT_EQ(parts("p:g/e l:a*", ProbeFamily::kKprobe), "none");
  EXPECT_EQ(parts("p:g/* l:puts", ProbeFamily::kKprobe), "none");
  EXPECT_EQ(parts("p:g/* /lib/l.so:a*", ProbeFamily::kKprobe), "none");
  EXPECT_EQ(parts("r10:g/* l:a*", ProbeFamily::kKprobe), "r10:g/|l|a*|| r");
}

TEST(ProbePattern, EachFunctionHasALineAndAnEventOfItsOwn) {
  const auto each = *ProbePattern::parse(ProbeFamily::kUprobe, "r:g/* /l:png_* a=%di");
  EXPECT_EQ(each.line("png_read", "png_read"), "r:g/png_read /l:png_read a=%di");
  const auto returns = *ProbePattern::parse(ProbeFamily::kUprobe, "p:g/* /l:png_*%return");
  EXPECT_EQ(returns.line("png_read", "png_read_1"), "p:g/png_read_1 /l:png_read%return");
}

TEST(ProbePattern, AMistakeStandsWhereItWasWritten) {
  const std::string written = "p:g/* /l:png_* a=%nosuch";
  const auto each = *ProbePattern::parse(ProbeFamily::kUprobe, written);
  const std::string line = each.line("png_read_all", "png_read_all");
  const auto at = [&](const char* text) { return each.position(line.find(text), "png_read_all", "png_read_all"); };
  EXPECT_EQ(at("%nosuch"), written.find("%nosuch"));
  EXPECT_EQ(at("a="), written.find("a="));
  EXPECT_EQ(at("read_all a"), each.pattern_at());
  EXPECT_EQ(each.pattern_at(), written.find("png_*"));
  EXPECT_EQ(at("/l"), written.find("/l"));
  EXPECT_EQ(at("g/"), written.find("g/"));
  EXPECT_EQ(at("png"), written.find('*'));
}

TEST(ProbeEventNames, AreTheFunctionsAndDifferFromEachOther) {
  ProbeEventNames names;
  EXPECT_EQ(names.name_of("puts"), "puts");
  EXPECT_EQ(names.name_of("memcpy@GLIBC_2.2.5"), "memcpy_GLIBC_2_2_5");
  EXPECT_EQ(names.name_of("ns::~run"), "ns_run");
  EXPECT_EQ(names.name_of("ns.run"), "ns_run_1");
  EXPECT_EQ(names.name_of("ns_run_1"), "ns_run_1_1");
  EXPECT_EQ(names.name_of("ns::run"), "ns_run_2");
  EXPECT_EQ(names.name_of("1st"), "_1st");
  EXPECT_EQ(names.name_of("\xc3\xa4"), "_");
  const std::string longest(100, 'f');
  EXPECT_LT(names.name_of(longest).size(), 64u);
  const std::string other = names.name_of(longest + "g");
  EXPECT_LT(other.size(), 64u);
  EXPECT_TRUE(other.ends_with("f_1"));
}

}  // namespace
}  // namespace landtrace::language
