#include "programs/memory_map.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <future>
#include <optional>
#include <string>

#include "base/fd.hpp"

namespace landtrace::programs {
namespace {

TEST(MappingTest, ALineSaysWhereWithWhichRightsAndOfWhichFile) {
  const auto mapping =
      parse_mapping("7f10a000-7f10c000 r-xp 00003000 fd:01 1234567                    /usr/lib/a b.so");
  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->begin, 0x7f10a000u);
  EXPECT_EQ(mapping->end, 0x7f10c000u);
  EXPECT_EQ(mapping->offset, 0x3000u);
  EXPECT_TRUE(mapping->readable);
  EXPECT_FALSE(mapping->writable);
  EXPECT_EQ(mapping->path, "/usr/lib/a b.so");
}

TEST(MappingTest, RightsAreToldApart) {
  const auto none = parse_mapping("1000-2000 ---p 00000000 00:00 0 ");
  const auto write = parse_mapping("1000-2000 -w-s 00000000 00:00 0 ");
  ASSERT_TRUE(none && write);
  EXPECT_FALSE(none->readable || none->writable);
  EXPECT_TRUE(write->writable);
  EXPECT_FALSE(write->readable);
}

TEST(MappingTest, WhatIsNoFileHasNoPath) {
  const auto heap = parse_mapping("7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0                          [stack]");
  ASSERT_TRUE(heap);
  EXPECT_EQ(heap->end, 0x7ffffffff000u);
  EXPECT_EQ(heap->path, "");
}

TEST(MappingTest, OtherLinesAreNone) {
  for (const char* const line : {"", "1000", "1000-", "1000-2000", "1000-2000 r", "1000-2000 rw-p", "1000-2000 rw-p 0",
                                 "x-y rw-p 0 ", "VmFlags: rd wr mr", "1000-2000 rw-p z 00:00 0"}) {
    EXPECT_FALSE(parse_mapping(line)) << line;
  }
}

class PermitsTest : public testing::Test {
 protected:
  PermitsTest() : maps_(::memfd_create("maps", MFD_CLOEXEC)) {}
  void show(const std::string& text) {
    EXPECT_TRUE(write_all(maps_.get(), text.data(), text.size()));
    map_.emplace(maps_.get());
  }
  bool both_permit(std::uint64_t address, std::size_t size, Access access) {
    const bool permitted = permits(maps_.get(), address, size, access);
    EXPECT_EQ(map_->permits(address, size, access), permitted) << std::hex << address;
    return permitted;
  }
  bool reads(std::uint64_t address, std::size_t size) { return both_permit(address, size, Access::kRead); }
  bool writes(std::uint64_t address, std::size_t size) { return both_permit(address, size, Access::kWrite); }
  Fd maps_;
  std::optional<MemoryMap> map_;
};

TEST_F(PermitsTest, ARangeMustLieInMemoryWithThatRight) {
  show("1000-3000 rw-p 00000000 00:00 0\n5000-6000 r--p 00000000 00:00 0\n7000-8000 -w-p 00000000 00:00 0\n");
  EXPECT_TRUE(reads(0x1000, 0x2000));
  EXPECT_TRUE(writes(0x2fff, 1));
  EXPECT_FALSE(reads(0xfff, 1)) << "before the first";
  EXPECT_FALSE(reads(0xfff, 2));
  EXPECT_FALSE(reads(0x3000, 1)) << "in a gap";
  EXPECT_FALSE(reads(0x2fff, 2)) << "into the gap";
  EXPECT_TRUE(reads(0x5000, 0x1000));
  EXPECT_FALSE(writes(0x5000, 1));
  EXPECT_TRUE(writes(0x7000, 1));
  EXPECT_FALSE(reads(0x7000, 1));
  EXPECT_FALSE(writes(0x8000, 1)) << "behind the last";
  EXPECT_FALSE(writes(0x7000, 0x1001));
}

TEST_F(PermitsTest, ARangeMayGoOnInTheNextMapping) {
  show("1000-2000 rw-p 00000000 00:00 0\n2000-3000 rw-s 00000000 00:05 9 /dev/zero\n3000-4000 r--p 00000000 00:00 0\n");
  EXPECT_TRUE(writes(0x1ffe, 4));
  EXPECT_TRUE(reads(0x1800, 0x2800));
  EXPECT_FALSE(writes(0x1800, 0x1801)) << "the third is not writable";
  EXPECT_FALSE(reads(0x1800, 0x2801)) << "nothing is behind the third";
}

TEST_F(PermitsTest, ARangeDoesNotGoAroundTheEndOfAllAddresses) {
  show("0-1000 rw-p 00000000 00:00 0\nfffffffffffff000-ffffffffffffffff rw-p 00000000 00:00 0\n");
  EXPECT_TRUE(reads(0xfffffffffffff000, 8));
  EXPECT_FALSE(reads(0xfffffffffffffffc, 8));
}

TEST_F(PermitsTest, AMapMayBeLongerThanWhatIsReadAtOnce) {
  std::string text;
  const auto address_of = [](std::uint64_t i) { return 0x100000 + i * 0x3000; };
  constexpr std::uint64_t kLines = 2000;
  for (std::uint64_t i = 0; i < kLines; ++i) {
    char line[200];
    std::snprintf(line, sizeof line, "%lx-%lx %s 00000000 00:00 0 /file%.*s\n", address_of(i), address_of(i) + 0x1000,
                  i % 2 == 0 ? "rw-p" : "r--p", static_cast<int>(i % 50),
                  "a path of some length that differs from line to line");
    text += line;
  }
  ASSERT_GT(text.size(), 4u * 16384);
  show(text);
  for (std::uint64_t i = 0; i < kLines; ++i) {
    ASSERT_TRUE(reads(address_of(i), 0x1000)) << i;
    ASSERT_EQ(writes(address_of(i), 1), i % 2 == 0) << i;
    ASSERT_FALSE(reads(address_of(i) + 0x1000, 1)) << i;
  }
}

TEST_F(PermitsTest, WhatCannotBeUnderstoodPermitsNothing) {
  show("nonsense\n1000-2000 rw-p 00000000 00:00 0\n");
  EXPECT_FALSE(reads(0x1000, 1));
  EXPECT_FALSE(permits(-1, 0x1000, 1, Access::kRead));
  EXPECT_FALSE(MemoryMap(-1).permits(0x1000, 1, Access::kRead));
}

TEST_F(PermitsTest, ThreadsAskByOneDescriptorAtOnce) {
  std::string text;
  constexpr std::uint64_t kLines = 2000;
  for (std::uint64_t i = 1; i <= kLines; ++i) {
    char line[64];
    std::snprintf(line, sizeof line, "%lx000-%lx800 rw-p 00000000 00:00 0\n", i, i);
    text += line;
  }
  show(text);
  const auto ask = [&] {
    int found = 0;
    for (int i = 0; i < 200; ++i) found += permits(maps_.get(), kLines << 12, 1, Access::kWrite) ? 1 : 0;
    return found;
  };
  auto other = std::async(std::launch::async, ask);
  EXPECT_EQ(ask(), 200);
  EXPECT_EQ(other.get(), 200);
}

TEST_F(PermitsTest, TheKernelsOwnMapIsUnderstood) {
  const Fd maps(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  int variable = 0;
  static const int constant = 1;
  const auto at = [](const void* place) { return reinterpret_cast<std::uint64_t>(place); };
  EXPECT_TRUE(permits(maps.get(), at(&variable), sizeof variable, Access::kWrite));
  EXPECT_TRUE(permits(maps.get(), at(&constant), sizeof constant, Access::kRead));
  EXPECT_FALSE(permits(maps.get(), at(&constant), sizeof constant, Access::kWrite));
  EXPECT_FALSE(permits(maps.get(), 0, 1, Access::kRead));
}

}  // namespace
}  // namespace landtrace::programs
