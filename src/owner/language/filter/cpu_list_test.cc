#include "language/filter/cpu_list.hpp"

#include <gtest/gtest.h>

namespace landtrace::language {
namespace {

// "01001": a digit for each of 10 CPUs; "no" for what is refused.
std::string cpus(std::string_view list) {
  const auto mask = parse_cpu_list(list, 10);
  if (!mask) return "no";
  std::string out;
  for (std::uint32_t cpu = 0; cpu < 10; ++cpu) out += mask->has(cpu) ? '1' : '0';
  return out;
}

TEST(CpuList, NumbersAndRanges) {
  EXPECT_EQ(cpus("0"), "1000000000");
  EXPECT_EQ(cpus("1-3,5"), "0111010000");
  EXPECT_EQ(cpus(" 1 , 3,,9 "), "0101000001");
  EXPECT_EQ(cpus("all"), "1111111111");
  EXPECT_EQ(cpus("ALL"), "1111111111");
  EXPECT_EQ(cpus("N"), "0000000001");
  EXPECT_EQ(cpus("7-N"), "0000000111");
}

TEST(CpuList, SomeOfEveryGroup) {
  EXPECT_EQ(cpus("0-9:1/3"), "1001001001");
  EXPECT_EQ(cpus("all:2/4"), "1100110011");
  EXPECT_EQ(cpus("1-4:3/3"), "0111100000");
  EXPECT_EQ(cpus("0-3:0/2"), "0000000000");
}

TEST(CpuList, MayBeEmpty) {
  EXPECT_EQ(cpus(" , "), "0000000000");
  EXPECT_EQ(cpus(""), "0000000000");
}

TEST(CpuList, ANewlineBehindACpuIsTheEnd) {
  EXPECT_EQ(cpus("\n1\n2 junk"), "0100000000");
  EXPECT_EQ(cpus("0-3:1/2\n5"), "1010010000");
}

TEST(CpuList, RefusesWhatIsNoneOrTooHigh) {
  for (const char* list :
       {"10", "3-1", "a", "1-", "-1", "1:1/2", "0-3:3/2", "0-3:1/0", "0-3:1", "0-3x", "99999999999", "1;2"}) {
    EXPECT_EQ(cpus(list), "no") << list;
  }
}

TEST(CpuMask, KnowsWhetherItHasOneCpu) {
  EXPECT_EQ(parse_cpu_list("9", 10)->only(), 9u);
  EXPECT_EQ(parse_cpu_list("0,9", 10)->only(), std::nullopt);
  EXPECT_EQ(parse_cpu_list("1-2", 10)->only(), std::nullopt);
  EXPECT_EQ(parse_cpu_list(",", 10)->only(), std::nullopt);
}

}  // namespace
}  // namespace landtrace::language
