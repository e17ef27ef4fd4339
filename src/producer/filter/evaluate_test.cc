// What a compiled predicate says about a payload.
#include "filter/evaluate.hpp"

#include <gtest/gtest.h>

#include <array>

#include "filter/test_event.hpp"

namespace landtrace::filter {
namespace {

const TestEvent kNumbers("u8 a;s8 b;u16 c;s16 d;u32 e;s32 f;u64 g;s64 h");

std::string numbers(std::int64_t value) {
  return bytes_of(static_cast<std::uint8_t>(value), static_cast<std::int8_t>(value), static_cast<std::uint16_t>(value),
                  static_cast<std::int16_t>(value), static_cast<std::uint32_t>(value), static_cast<std::int32_t>(value),
                  static_cast<std::uint64_t>(value), value);
}

TEST(NumberFilter, SignedFieldsCompareSigned) {
  const std::string minus = numbers(-3);
  for (const char* field : {"b", "d", "f", "h"}) {
    for (const char* rest : {" < 0", " < -2", " <= -3", " >= -3", " > -4", " != 3", " == -3"}) {
      EXPECT_TRUE(passes(kNumbers, std::string(field) + rest, minus)) << field << rest;
    }
    for (const char* rest : {" > 0", " < -3", " > -3", " <= -4", " >= -2", " == 3", " != -3"}) {
      EXPECT_FALSE(passes(kNumbers, std::string(field) + rest, minus)) << field << rest;
    }
  }
}

TEST(NumberFilter, UnsignedFieldsCompareUnsigned) {
  const std::string most = numbers(-1);
  for (const char* field : {"a", "c", "e", "g"}) {
    for (const char* rest : {" > 100", " >= 1", " != 0", " & 0x80"}) {
      EXPECT_TRUE(passes(kNumbers, std::string(field) + rest, most)) << field << rest;
    }
    for (const char* rest : {" < 0", " < 100", " <= 0", " == 0"}) {
      EXPECT_FALSE(passes(kNumbers, std::string(field) + rest, most)) << field << rest;
    }
  }
}

TEST(NumberFilter, AValueIsCutToTheFieldsSize) {
  EXPECT_TRUE(passes(kNumbers, "a == 256", numbers(0)));
  EXPECT_TRUE(passes(kNumbers, "b == 255", numbers(-1)));
  EXPECT_TRUE(passes(kNumbers, "c == 0x10007", numbers(7)));
  EXPECT_FALSE(passes(kNumbers, "a & 0x100", numbers(-1)));
  EXPECT_TRUE(passes(kNumbers, "b > 200", numbers(5)));  // 200 is -56
}

TEST(NumberFilter, TheSmallestAndTheGreatestAreInRange) {
  EXPECT_TRUE(passes(kNumbers, "h <= 9223372036854775807 && h >= -9223372036854775808", numbers(INT64_MIN)));
  EXPECT_FALSE(passes(kNumbers, "h > 9223372036854775807", numbers(INT64_MAX)));
  EXPECT_FALSE(passes(kNumbers, "g > 0xffffffffffffffff || g < 0", numbers(-1)));
}

TEST(NumberFilter, WhatHasNoNumbersSizeNeverMatches) {
  const TestEvent event("struct big t 3");
  EXPECT_FALSE(passes(event, "t == 0", "\0\0\0"));
  EXPECT_FALSE(passes(event, "t != 0", "\0\0\0"));
  EXPECT_TRUE(passes(event, "!t == 0", "\0\0\0"));
  EXPECT_FALSE(passes(event, "stacktrace == 0 || STACKTRACE != 0", "\0\0\0"));
}

TEST(CommonFields, AreTheHeaderTheCpuAndTheName) {
  EXPECT_TRUE(passes(kNumbers, "common_type == 60007 && common_flags == 1", numbers(0)));
  EXPECT_TRUE(passes(kNumbers, "common_preempt_count & 2 && common_pid > 4710 && common_pid < 4712", numbers(0)));
  EXPECT_TRUE(passes(kNumbers, "CPU == 5 && cpu != 4 && common_cpu > -1 && CPU <= 5", numbers(0)));
  EXPECT_FALSE(passes(kNumbers, "CPU & 5", numbers(0)));  // the kernel knows no such comparison of the CPU
  EXPECT_TRUE(passes(kNumbers, "COMM == \"worker/3\" && comm ~ \"work*\" && comm ~ '*k?r/[0-9]'", numbers(0)));
  EXPECT_FALSE(passes(kNumbers, "comm == \"worker/\" || comm ~ \"*3\"", numbers(0)));  // its text is 16 bytes
}

TEST(CommonFields, AProgramSaysWhichItUses) {
  const auto uses = [](const char* text) { return compile_filter(text, kNumbers.names())->program().uses; };
  EXPECT_EQ(uses("a == 1 && common_pid == 1"), 0);
  EXPECT_EQ(uses("a == 1 && CPU == 1"), Program::kUsesCpu);
  EXPECT_EQ(uses("COMM ~ \"a*\" || cpu & CPUS{1-2}"), Program::kUsesCpu | Program::kUsesComm);
}

bool str_passes(std::string_view expression, std::string text) {
  static const TestEvent event("char[8] str;u32 behind");
  text.resize(8);
  return passes(event, expression, text + bytes_of(std::uint32_t{0x64636261}));
}

TEST(CharArrayFilter, EqualsUpToItsNulOrItsEnd) {
  EXPECT_TRUE(str_passes("str == \"abc\"", "abc"));
  EXPECT_FALSE(str_passes("str == \"ab\"", "abc"));
  EXPECT_FALSE(str_passes("str == \"abcd\"", "abc"));
  EXPECT_TRUE(str_passes("str == 'abc'", std::string("abc\0xyz", 7)));
  EXPECT_TRUE(str_passes("str == \"12345678\"", "12345678"));
  EXPECT_TRUE(str_passes("str == \"123456789\"", "12345678"));  // no more than the field is compared
  EXPECT_TRUE(str_passes("str == \"\"", ""));
  EXPECT_TRUE(str_passes("str != \"ab\"", "abc"));
}

TEST(CharArrayFilter, StarsAtTheEndsAreNoGlobs) {
  EXPECT_TRUE(str_passes("str ~ \"ab*\"", "abc"));
  EXPECT_FALSE(str_passes("str ~ \"bc*\"", "abc"));
  EXPECT_TRUE(str_passes("str ~ \"*bc*\"", "abc"));
  EXPECT_TRUE(str_passes("str ~ \"*xy*\"", std::string("abc\0xyz", 7)));  // nor do they mind a NUL
  EXPECT_FALSE(str_passes("str ~ \"*bc\"", "abc"));                       // the end is the field's
  EXPECT_TRUE(str_passes("str ~ \"*fg\"", "abcdefg"));
  EXPECT_TRUE(str_passes("str ~ \"*\"", "abc"));
  EXPECT_TRUE(str_passes("str ~ \"**\"", "abc"));
  EXPECT_TRUE(str_passes("str ~ \"abc\"", "abc"));
}

TEST(CharArrayFilter, GlobsTakeClassesAndEscapes) {
  EXPECT_TRUE(str_passes("str ~ \"a*c\"", "abbc"));
  EXPECT_FALSE(str_passes("str ~ \"a*c\"", "abb"));
  EXPECT_TRUE(str_passes("str ~ \"a?c\"", "abc"));
  EXPECT_FALSE(str_passes("str ~ \"abc?\"", "abc"));
  EXPECT_TRUE(str_passes("str ~ \"[a-c]?[!x-z]\"", "bbb"));
  EXPECT_FALSE(str_passes("str ~ \"[a-c]?[!x-z]\"", "bby"));
  EXPECT_TRUE(str_passes("str ~ \"[]a]x\"", "]x"));
  EXPECT_TRUE(str_passes("str ~ \"[a-]x\"", "-x"));
  EXPECT_TRUE(str_passes("str ~ \"a[b\"", "a[b"));  // a class without an end is text
  EXPECT_TRUE(str_passes("str ~ \"a\\*\"", "a*"));
  EXPECT_FALSE(str_passes("str ~ \"a\\*\"", "ab"));
  EXPECT_TRUE(str_passes("str ~ \"*a*b*c\"", "xaxbxc"));
  EXPECT_TRUE(str_passes("str ~ \"?\"", "\xff"));
}

TEST(CharArrayFilter, AGlobRunsToTheFirstNulEvenBehindTheField) {
  EXPECT_FALSE(str_passes("str ~ \"rstu?wxy\"", "rstuvwxy"));
  EXPECT_TRUE(str_passes("str ~ \"rstu?wxyabcd\"", "rstuvwxy"));
}

TEST(CharArrayFilter, APatternMayBeginWithNot) {
  EXPECT_TRUE(str_passes("str ~ \"!b*\"", "abc"));
  EXPECT_FALSE(str_passes("str ~ \"!a*\"", "abc"));
  EXPECT_FALSE(str_passes("str != \"!abc\"", "!abc"));  // only behind ~
}

TEST(CharArrayFilter, APatternThatBeginsWithADigitHasNoStars) {
  EXPECT_FALSE(str_passes("str ~ \"1*\"", "123"));
  EXPECT_TRUE(str_passes("str ~ \"1*\"", "1*"));
}

TEST(CharArrayFilter, UstringMeansNothing) { EXPECT_TRUE(str_passes("str.ustring == \"abc\"", "abc")); }

const TestEvent kDynamic("__data_loc char[] dyn;__rel_loc char[] rel");

// The texts behind the two locations, which count from 8 bytes before the payload and from behind themselves.
std::string dynamic(const std::string& dyn, const std::string& rel) {
  const auto location = [](std::size_t at, std::size_t size) { return static_cast<std::uint32_t>(size << 16 | at); };
  return bytes_of(location(16, dyn.size() + 1), location(dyn.size() + 1, rel.size() + 1)) + dyn + '\0' + rel + '\0';
}

TEST(DynamicTextFilter, HasTheLengthOfItsLocation) {
  const std::string payload = dynamic("hello world", "relative");
  EXPECT_TRUE(passes(kDynamic, "dyn == \"hello world\" && rel == \"relative\"", payload));
  EXPECT_TRUE(passes(kDynamic, "dyn ~ \"*world\" && rel ~ \"*ive\" && rel ~ \"*lat*\" && dyn ~ \"h*\"", payload));
  EXPECT_TRUE(passes(kDynamic, "dyn ~ \"h?llo*[a-e]\" && rel != \"relativ\"", payload));
  EXPECT_FALSE(passes(kDynamic, "dyn ~ \"*rel*\"", payload));
  EXPECT_TRUE(passes(kDynamic, "dyn == \"\" && rel ~ \"*\"", dynamic("", "x")));
}

TEST(DynamicTextFilter, ALocationWithoutLengthRunsToTheFirstNul) {
  const std::string payload = bytes_of(std::uint32_t{16}, std::uint32_t{0}) + "hello" + '\0' + "more";
  EXPECT_TRUE(passes(kDynamic, "dyn == \"hello\" && dyn ~ \"he*\" && dyn ~ \"*ell*\" && rel == \"hello\"", payload));
  EXPECT_FALSE(passes(kDynamic, "dyn ~ \"*llo\" || dyn ~ \"*mor*\"", payload));
}

TEST(DynamicTextFilter, ALocationOutsideThePayloadIsAnEmptyText) {
  for (const std::uint32_t location : {0xffff'ffffu, 0x0001'ffffu, 0xffffu, 17u | 5u << 16}) {
    const std::string payload = bytes_of(location, location);
    EXPECT_TRUE(passes(kDynamic, "dyn == \"\" && rel == \"\"", payload)) << location;
    EXPECT_FALSE(passes(kDynamic, "dyn ~ \"a*\" || rel ~ \"*a*\" || dyn ~ \"?\" || rel ~ \"*\"", payload)) << location;
  }
}

TEST(DynamicTextFilter, ALocationInTheCommonHeaderReadsIt) {
  Context context = kTestContext;
  context.header.type = 'a' | 'b' << 8;
  context.header.flags = 'c';
  context.header.preempt_count = 0;
  EXPECT_TRUE(
      passes(kDynamic, "dyn == \"abc\" && dyn ~ \"a[b]?\"", bytes_of(std::uint32_t{0}, std::uint32_t{0}), context));
}

TEST(CpuFilter, ComparesMasks) {
  const TestEvent event("__data_loc cpumask_t mask;u32 n");
  const auto payload = [](unsigned char mask, std::uint32_t n = 0) {
    return bytes_of(std::uint32_t{16 | 8 << 16}, n, std::uint64_t{mask});
  };
  EXPECT_TRUE(passes(event, "mask & CPUS{0-3}", payload(0x18)));
  EXPECT_FALSE(passes(event, "mask & CPUS{0-2}", payload(0x18)));
  EXPECT_TRUE(passes(event, "mask == CPUS{3-4} && mask != CPUS{3} && mask & CPUS{4}", payload(0x18)));
  EXPECT_TRUE(passes(event, "mask == CPUS{3}", payload(0x08)));
  EXPECT_TRUE(passes(event, "n & CPUS{1,3} && n != CPUS{1,2} && n == CPUS{3} && n & CPUS{3}", payload(0, 3)));
  EXPECT_FALSE(passes(event, "n == CPUS{1,3} || n & CPUS{1,2} || n != CPUS{3}", payload(0, 3)));
  EXPECT_FALSE(passes(event, "n & CPUS{1,3} || n == CPUS{1,2} || n != CPUS{1,2}", payload(0, 8)));  // no CPU 8 here
  EXPECT_TRUE(passes(event, "CPU & CPUS{4-6} && CPU == CPUS{5} && cpu & CPUS{5} && CPU != CPUS{5-6}", payload(0)));
  EXPECT_TRUE(
      passes(event, "common_flags & CPUS{1,2} && common_type & CPUS{0}", payload(0), {{0, 1, 0, 0}, 0, 0, nullptr}));
}

class Resolver : public FunctionResolver {
 public:
  std::vector<FunctionRange> named(std::string_view name) override {
    if (name == "work") return {{4700, 0, 0x1000, 0x1010}, {17, 0, 0x2000, 0x2010}, {4700, 0, 0x3000, 0x3001}};
    if (name == "shared") return {{0, 0, 0x5000, 0x5010}};
    return {};
  }
  std::vector<FunctionRange> holding(std::uint64_t address) override {
    return address >= 0x1000 && address < 0x1010 ? named("work") : std::vector<FunctionRange>();
  }
};

TEST(FunctionFilter, LooksForTheAddressInTheProcessThatEmits) {
  Resolver resolver;
  TestEvent event("u64 ip;u32 n");
  event.functions = &resolver;
  const auto at = [&](const char* text, std::uint64_t ip) {
    return passes(event, text, bytes_of(ip, std::uint32_t{0}));
  };
  EXPECT_TRUE(at("ip.function == work", 0x1000));
  EXPECT_TRUE(at("ip.function == work", 0x100f));
  EXPECT_TRUE(at("ip.function == work && n == 0", 0x3000));
  EXPECT_FALSE(at("ip.function == work", 0x1010));
  EXPECT_FALSE(at("ip.function == work", 0x2000));  // another process
  EXPECT_TRUE(at("ip.function != work", 0x2000));
  EXPECT_TRUE(at("ip.function == shared", 0x5008));
  EXPECT_TRUE(at("ip.function == 0x1008", 0x1000));
  EXPECT_EQ(compile_filter("ip.function == work", event.names())->program().uses, Program::kUsesProcess);
}

TEST(FunctionFilter, NeedsALongFieldAndAFunction) {
  Resolver resolver;
  TestEvent event("u64 ip;u32 n");
  event.functions = &resolver;
  EXPECT_EQ(event.failure("n.function == work"), (FilterFailure{EINVAL, FilterFailureKind::kIllegalFieldOperator, 15}));
  EXPECT_EQ(event.failure("ip.function > work"), (FilterFailure{EINVAL, FilterFailureKind::kInvalidOperator, 15}));
  EXPECT_EQ(event.failure("ip.function == nosuch"), (FilterFailure{EINVAL, FilterFailureKind::kNoFunction, 22}));
  EXPECT_EQ(event.failure("ip.function == 0x4"), (FilterFailure{EINVAL, FilterFailureKind::kNoFunction, 19}));
  EXPECT_EQ(event.failure("ip.function == 0y4"), (FilterFailure{EINVAL, FilterFailureKind::kInvalidValue, 19}));
  event.functions = nullptr;
  EXPECT_EQ(event.failure("ip.function == work"), (FilterFailure{EINVAL, FilterFailureKind::kNoFunction, 20}));
}

TEST(Segments, FieldsMayStraddleThem) {
  const TestEvent event("u64 q;char[8] str;__data_loc char[] dyn");
  const std::string payload = bytes_of(std::uint64_t{0x1122334455667788}) + "abcdefg" + '\0' +
                              bytes_of(std::uint32_t{28 | 6 << 16}) + "hello" + '\0';
  const auto program = compile_filter(
      "q == 0x1122334455667788 && str == \"abcdefg\" && dyn ~ \"*ell*\" && dyn ~ \"h*l?\" && str ~ \"*fg\" && dyn ~ "
      "'hel*'",
      event.names());
  ASSERT_TRUE(program);
  for (std::size_t step = 1; step <= payload.size(); ++step) {
    std::vector<arch::Segment> segments{{nullptr, 0}};
    for (std::size_t at = 0; at < payload.size(); at += step) {
      segments.push_back({payload.data() + at, std::min(step, payload.size() - at)});
    }
    EXPECT_TRUE(passes(program->program(), kTestContext, segments.data(), segments.size())) << step;
  }
}

TEST(Segments, WhatAShortPayloadLacksIsNul) {
  const TestEvent event("u32 n;char[4] str;__data_loc char[] dyn");
  const auto program = compile_filter("n == 0x61 && str == \"\" && dyn == \"\"", event.names());
  const arch::Segment one{"a", 1};
  const Context zero{};  // where a location of 0 leads
  EXPECT_TRUE(passes(program->program(), zero, &one, 1));
  EXPECT_FALSE(passes(program->program(), zero, nullptr, 0));
}

TEST(Program, WorksWhereverItsBytesLie) {
  const auto program = compile_filter("str ~ \"*[a-c]x\" && n & CPUS{1-2}", TestEvent("u32 n;char[8] str").names());
  std::array<std::uint64_t, 64> elsewhere{};
  std::memcpy(&elsewhere[7], program->bytes().data(), program->bytes().size());
  const std::string payload = bytes_of(std::uint32_t{2}) + "zzbx" + std::string(4, '\0');
  const arch::Segment segment{payload.data(), payload.size()};
  EXPECT_TRUE(passes(*reinterpret_cast<const Program*>(&elsewhere[7]), kTestContext, &segment, 1));
}

TEST(Program, IsWellFormedOnlyWithoutJumpsBack) {
  const auto program = compile_filter("a == 1 && a == 2", kNumbers.names());
  std::vector<std::uint64_t> words(program->bytes().size() / 8);
  std::memcpy(words.data(), program->bytes().data(), program->bytes().size());
  const auto bytes = std::as_bytes(std::span(words));
  EXPECT_TRUE(is_well_formed(bytes));
  auto* op = reinterpret_cast<Op*>(words.data() + 2) + 1;
  op->on_match = 1;
  EXPECT_FALSE(is_well_formed(bytes));
  op->on_match = 2;
  EXPECT_FALSE(is_well_formed(bytes));
  op->on_match = Op::kPass;
  op->offset = 100;
  EXPECT_FALSE(is_well_formed(bytes));
  EXPECT_FALSE(is_well_formed(bytes.first(bytes.size() - 8)));
}

}  // namespace
}  // namespace landtrace::filter
