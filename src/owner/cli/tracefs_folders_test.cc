#include "cli/tracefs_folders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TracefsFoldersTest : public testing::Test {
 protected:
  std::vector<std::string> folders(const std::string& mounts) {
    output::write_text(dir_.file("mounts"), mounts);
    return tracefs_folders(dir_.file("mounts").c_str());
  }

  output::TempDir dir_;
};

TEST_F(TracefsFoldersTest, AreThoseOfLinesOfTheType) {
  EXPECT_THAT(folders("proc /proc proc rw 0 0\n"
                      "tracefs /sys/kernel/tracing tracefs rw,relatime 0 0\n"
                      "tracefs /mnt fuse.tracefs rw 0 0\n"
                      "none /sys/kernel/debug/tracing tracefs rw 0 0\n"),
              ElementsAre("/sys/kernel/tracing", "/sys/kernel/debug/tracing"));
}

TEST_F(TracefsFoldersTest, MayHaveSpacesInTheirNames) {
  EXPECT_THAT(folders("tracefs /a\\040b tracefs rw 0 0\n"), ElementsAre("/a b"));
}

TEST_F(TracefsFoldersTest, AreNoneWithoutSuchALineOrTheFile) {
  EXPECT_THAT(folders("tracefs /mnt ext4 rw 0 0\n"), IsEmpty());
  EXPECT_THAT(tracefs_folders(dir_.file("nosuch").c_str()), IsEmpty());
}

}  // namespace
}  // namespace landtrace::cli
