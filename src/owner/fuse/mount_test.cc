#include "fuse/mount.hpp"

#include <grp.h>
#include <sys/wait.h>

#include "fuse/test_mount.hpp"

namespace landtrace::fuse::test {
namespace {

class Mounting : public MountTest {};

TEST_F(Mounting, NeedsAFolderThatIsThere) {
  EXPECT_EQ(mount_here(folder_ + "/none", {}).error().code, ENOENT);
  EXPECT_EQ(mount_here("/proc/version", {}).error().code, ENOTDIR);
  EXPECT_EQ(mount_with_fusermount(folder_ + "/none", {}).error().code, ENOENT);
  EXPECT_EQ(unmount(folder_).error().code, EINVAL) << "nothing is mounted there";
}

TEST_F(Mounting, GoesByFusermountToo) {
  if (std::system("command -v fusermount3 >/dev/null") != 0) GTEST_SKIP() << "no fusermount3 here";
  auto fuse = mount_with_fusermount(folder_, {.name = "by_helper"});
  if (!fuse && ::geteuid() != ::getuid()) GTEST_SKIP() << fuse.error().message;
  ASSERT_TRUE(fuse) << fuse.error().message;
  auto session = Session::serve(*domain_, tree_->root, *std::move(fuse), {});
  ASSERT_TRUE(session);
  EXPECT_THAT(*read_file("/proc/self/mounts"), ::testing::HasSubstr("by_helper " + folder_ + " fuse.tracefs"));
  EXPECT_TRUE(std::filesystem::exists(at("notebook")));
  ASSERT_TRUE(unmount(folder_));
  EXPECT_TRUE(becomes_true([&] { return (*session)->has_ended(); }));
}

TEST_F(Mounting, FusermountsRefusalIsPassedOn) {
  if (std::system("command -v fusermount3 >/dev/null") != 0) GTEST_SKIP() << "no fusermount3 here";
  const auto refused = mount_with_fusermount(folder_, {.name = "x,no_such_option"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, ::testing::StartsWith("fusermount3: "));
}

}  // namespace
}  // namespace landtrace::fuse::test
