#include "cli/usual_rings.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {
namespace {

constexpr std::uint64_t kMb = 1u << 20;
constexpr std::uint64_t kGb = 1u << 30;

TEST(UsualRingsTest, AreLargeWhereThereIsRoomForAll) {
  EXPECT_EQ(usual_ring_bytes(2, 24 * kGb), 32 * kMb);
  EXPECT_EQ(usual_ring_bytes(1, 2 * kGb), 32 * kMb);
  EXPECT_EQ(usual_ring_bytes(8, 64 * kGb), 32 * kMb);
}

TEST(UsualRingsTest, AreSmallerOnManyCpusAndOfLittleMemory) {
  EXPECT_EQ(usual_ring_bytes(9, 64 * kGb), 16 * kMb);
  EXPECT_EQ(usual_ring_bytes(64, 512 * kGb), 4 * kMb);
  EXPECT_EQ(usual_ring_bytes(2, 2 * kGb), 16 * kMb);
  EXPECT_EQ(usual_ring_bytes(4, 3 * kGb), 8 * kMb);
}

TEST(UsualRingsTest, AreNeverSmallerThanTheyCanBe) {
  EXPECT_EQ(usual_ring_bytes(1024, 4096 * kGb), 4 * kMb);
  EXPECT_EQ(usual_ring_bytes(4, 64 * kMb), 4 * kMb);
  EXPECT_EQ(usual_ring_bytes(0, 0), 4 * kMb);
}

class UsableMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override { write("/proc/self/cgroup", "1:name=systemd:/old\n0::/a.slice/b.scope\n"); }
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_.file(path);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::uint64_t memory() { return usable_memory(root_.file("")); }

  output::TempDir root_;
};

TEST_F(UsableMemoryTest, IsTheMachinesWhereNothingLimitsIt) {
  const std::uint64_t all = memory();
  EXPECT_GT(all, 64 * kMb);
  write("/sys/fs/cgroup/a.slice/b.scope/memory.max", "max\n");
  EXPECT_EQ(memory(), all);
}

TEST_F(UsableMemoryTest, IsTheLeastOfTheGroupsThatItIsIn) {
  write("/sys/fs/cgroup/a.slice/b.scope/memory.max", "8000000\n");
  EXPECT_EQ(memory(), 8'000'000u);
  write("/sys/fs/cgroup/a.slice/memory.max", "7000000\n");
  EXPECT_EQ(memory(), 7'000'000u);
  write("/sys/fs/cgroup/memory.max", "6000000\n");
  EXPECT_EQ(memory(), 6'000'000u);
  write("/sys/fs/cgroup/old/memory.max", "1000000\n");
  EXPECT_EQ(memory(), 6'000'000u);
}

TEST_F(UsableMemoryTest, OfAContainerIsWhatStandsAtTheRoot) {
  write("/proc/self/cgroup", "0::/\n");
  write("/sys/fs/cgroup/memory.max", "5000000\n");
  EXPECT_EQ(memory(), 5'000'000u);
}

}  // namespace
}  // namespace landtrace::cli
