#include "attach/mapped_range.hpp"

#include <gtest/gtest.h>

namespace landtrace::attach {
namespace {

MappedRange range(std::uint64_t begin, std::uint64_t end) {
  MappedRange range;
  range.begin = begin;
  range.end = end;
  return range;
}

TEST(MappedRanges, AreThoseOfTheText) {
  const auto ranges = mapped_ranges(
      "555500000000-555500002000 r-xp 00001000 fe:00 15040572                   /opt/a program\n"
      "555500002000-555500003000 rw-s 00000000 00:00 0 \n"
      "7ffc7d130000-7ffc7d151000 rw-p 00000000 00:00 0                          [stack]\n");
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].begin, 0x555500000000u);
  EXPECT_EQ(ranges[0].end, 0x555500002000u);
  EXPECT_EQ(ranges[0].offset, 0x1000u);
  EXPECT_EQ(ranges[0].inode, 15040572u);
  EXPECT_EQ(ranges[0].path, "/opt/a program");
  EXPECT_TRUE(ranges[0].is_executable);
  EXPECT_TRUE(ranges[0].is_private);
  EXPECT_EQ(ranges[1].path, "");
  EXPECT_FALSE(ranges[1].is_executable);
  EXPECT_FALSE(ranges[1].is_private);
  EXPECT_EQ(ranges[2].path, "[stack]");
}

// While it was read, the second of three has grown down to the first, and then over it.
TEST(MappedRanges, AscendAlsoWhereTheProgramMapsMemoryWhileTheyAreRead) {
  const auto ranges = mapped_ranges(
      "7f0000010000-7f0000020000 r--p 00003000 fe:00 7 /lib/a\n"
      "7f0000018000-7f0000030000 r--p 0000b000 fe:00 7 /lib/a\n"
      "7f0000008000-7f0000028000 rw-p 00000000 00:00 0 \n"
      "7f0000040000-7f0000050000 rw-p 00000000 00:00 0 \n");
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].begin, 0x7f0000010000u);
  EXPECT_EQ(ranges[1].begin, 0x7f0000020000u);
  EXPECT_EQ(ranges[1].end, 0x7f0000030000u);
  EXPECT_EQ(ranges[1].offset, 0x13000u);
  EXPECT_EQ(ranges[2].begin, 0x7f0000040000u);
  EXPECT_EQ(range_of(ranges, 0x7f0000020000), &ranges[1]);
  EXPECT_EQ(range_of(ranges, 0x7f0000030000), nullptr);
}

TEST(LargestHole, IsBetweenRangesThatAProgramMayHave) {
  constexpr std::uint64_t kGiga = 1 << 30;
  const std::vector<MappedRange> ranges{range(0x10000, kGiga),
                                        range(2 * kGiga, 3 * kGiga),
                                        range(7 * kGiga, 8 * kGiga),
                                        range(0xffffffffff600000, 0xffffffffff601000)};
  EXPECT_EQ(middle_of_largest_hole(ranges, kGiga), 5 * kGiga);
  EXPECT_EQ(middle_of_largest_hole(ranges, 4 * kGiga), 5 * kGiga);
  EXPECT_EQ(middle_of_largest_hole(ranges, 4 * kGiga + 1), 0u);
}

TEST(LargestHole, IsNoneWhereOneRangeBeginsBeforeTheEndOfAnother) {
  constexpr std::uint64_t kMega = 1 << 20;
  const std::vector<MappedRange> ranges{range(0x10000, 4 * kMega),
                                        range(2 * kMega, 3 * kMega),
                                        range(5 * kMega, 6 * kMega)};
  EXPECT_EQ(middle_of_largest_hole(ranges, 4096), 4 * kMega + kMega / 2);
}

}  // namespace
}  // namespace landtrace::attach
