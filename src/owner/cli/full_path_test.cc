#include "cli/full_path.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {
namespace {

namespace fs = std::filesystem;

class FullPathTest : public testing::Test {
 protected:
  FullPathTest() : before_(fs::current_path()) { fs::current_path(folder_); }
  ~FullPathTest() override { fs::current_path(before_); }

  output::TempDir dir_;
  std::string folder_ = fs::canonical(dir_.file("")).string();
  fs::path before_;
};

TEST_F(FullPathTest, IsFromTheRootWhateverTheFolder) {
  EXPECT_EQ(full_path("a/b"), folder_ + "/a/b");
  EXPECT_EQ(full_path("."), folder_);
  EXPECT_EQ(full_path("/usr"), fs::canonical("/usr").string());
  EXPECT_EQ(full_path("/"), "/");
}

TEST_F(FullPathTest, HasNoDotsAndNoSlashAtItsEnd) {
  EXPECT_EQ(full_path("a/../b/./c"), folder_ + "/b/c");
  EXPECT_EQ(full_path("a/"), folder_ + "/a");
  EXPECT_EQ(full_path("a//"), folder_ + "/a");
}

TEST_F(FullPathTest, FollowsSymbolicLinks) {
  fs::create_directory("real");
  fs::create_directory_symlink("real", "link");
  EXPECT_EQ(full_path("link"), folder_ + "/real");
  EXPECT_EQ(full_path("link/new"), folder_ + "/real/new");
}

TEST_F(FullPathTest, TheLastPartMayBeWhatCannotBeLookedAt) {
  fs::create_directory("real");
  fs::create_directory_symlink("real", "link");
  fs::create_symlink("round", "link/round");  // as a mount without server, it answers with an error
  EXPECT_EQ(full_path("link/round"), folder_ + "/real/round");
}

}  // namespace
}  // namespace landtrace::cli
