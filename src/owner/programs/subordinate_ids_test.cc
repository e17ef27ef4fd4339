#include "programs/subordinate_ids.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace landtrace::programs {
namespace {

TEST(SubordinateIds, AreTheirHolders) {
  const std::string path = testing::TempDir() + "subuid-" + std::to_string(::getpid());
  std::ofstream(path) << "anna:100000:65536\n# nothing\n1001:165536:2\nbad:x:1\nbad:1:\nbad:5\n:7:1\nlast:200000:1";
  const SubordinateIds ids = SubordinateIds::read(path);
  EXPECT_EQ(ids.holder_of(99'999), "");
  EXPECT_EQ(ids.holder_of(100'000), "anna");
  EXPECT_EQ(ids.holder_of(165'535), "anna");
  EXPECT_EQ(ids.holder_of(165'536), "1001");
  EXPECT_EQ(ids.holder_of(165'537), "1001");
  EXPECT_EQ(ids.holder_of(165'538), "");
  EXPECT_EQ(ids.holder_of(1), "");
  EXPECT_EQ(ids.holder_of(5), "");
  EXPECT_EQ(ids.holder_of(200'000), "last");
  EXPECT_EQ(ids.holder_of(200'001), "");
  std::filesystem::remove(path);
  EXPECT_EQ(SubordinateIds::read(path).holder_of(100'000), "");
}

}  // namespace
}  // namespace landtrace::programs
