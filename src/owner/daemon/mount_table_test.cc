#include "daemon/mount_table.hpp"

#include <gtest/gtest.h>

namespace landtrace::daemon {
namespace {

TEST(MountTableTest, ReadsLinesWithAndWithoutTags) {
  const auto lines = parse_mountinfo(
      "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
      "40 27 0:55 / /mnt/a\\040b rw shared:1 master:2 - fuse.tracefs landtrace rw,user_id=0\n");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].type, "proc");
  EXPECT_FALSE(lines[0].is_fuse());
  EXPECT_EQ(lines[1].folder, "/mnt/a b");
  EXPECT_EQ(lines[1].device, "0:55");
  EXPECT_EQ(lines[1].source, "landtrace");
  EXPECT_TRUE(lines[1].is_fuse());
}

TEST(MountTableTest, TheLastMountOfAFolderIsTheOneOnTop) {
  const auto lines = parse_mountinfo(
      "22 27 0:21 / /t rw - tracefs tracefs rw\n"
      "23 22 0:56 / /t rw - fuse.tracefs landtrace rw\n");
  EXPECT_EQ(find_mount(lines, "/t")->device, "0:56");
  EXPECT_FALSE(find_mount(lines, "/u"));
}

TEST(MountTableTest, LinesThatAreNoneAreLeftOut) {
  EXPECT_TRUE(parse_mountinfo("").empty());
  EXPECT_TRUE(parse_mountinfo("\n\nnonsense\n1 2 3:4 / /x rw\n").empty());
}

TEST(MountTableTest, ThisProcessHasMounts) {
  const auto lines = mounts_of("self");
  ASSERT_TRUE(lines);
  EXPECT_TRUE(find_mount(*lines, "/"));
}

}  // namespace
}  // namespace landtrace::daemon
