#include "cli/mount_point.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>

#include "cli/doctor/program.hpp"
#include "cli/own_namespace.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {
namespace {

namespace fs = std::filesystem;

class MountPointTest : public testing::Test {
 protected:
  // Works in a mount namespace of its own, where DIR/ro is a read-only file system with a folder, a file and a link.
  // Returns what went wrong there; "skip": there is no such namespace.
  std::string in_namespace(const std::function<Result<void>()>& work) {
    const std::string folder = dir_.file("ro");
    fs::create_directory(folder);
    const auto done = doctor::run_in_child([&]() -> Result<void> {
      if (!enter_own_namespace(Ids::kRoot)) return fail(EPERM, "skip");
      if (::mount("test", folder.c_str(), "tmpfs", 0, nullptr) != 0) return fail(EPERM, "skip");
      fs::create_directory(folder + "/kept");
      output::write_text(folder + "/kept/inner", "inside");
      output::write_text(folder + "/file", "text");
      fs::create_symlink("kept", folder + "/link");
      if (::mount(nullptr, folder.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0) return fail_errno("remount");
      return work();
    });
    return done ? "" : done.error().message;
  }
  static Result<void> expect(bool is_so, const char* what) { return is_so ? Result<void>() : fail(EPROTO, what); }

  output::TempDir dir_;
};

TEST_F(MountPointTest, AFolderThatIsThereIsLeftAlone) {
  output::write_text(dir_.file("x"), "");
  EXPECT_TRUE(make_mount_point(dir_.file("")));
  EXPECT_THAT(dir_.list(), testing::ElementsAre("x"));
}

TEST_F(MountPointTest, MissingFoldersAreMadeAllTheWay) {
  EXPECT_TRUE(make_mount_point(dir_.file("a/b/c")));
  EXPECT_TRUE(fs::is_directory(dir_.file("a/b/c")));
}

TEST_F(MountPointTest, AFolderOfAReadOnlyFileSystemIsCoveredAndShowsWhatItHad) {
  const std::string folder = dir_.file("ro");
  const std::string wrong = in_namespace([&]() -> Result<void> {
    LT_CHECK(make_mount_point(folder + "/new/deeper"));
    LT_CHECK(expect(fs::is_directory(folder + "/new/deeper"), "no folder"));
    LT_CHECK(expect(output::read_text(folder + "/kept/inner") == "inside", "a folder is gone"));
    LT_CHECK(expect(output::read_text(folder + "/file") == "text", "a file is gone"));
    LT_CHECK(expect(fs::read_symlink(folder + "/link") == "kept", "a link is gone"));
    return expect(std::distance(fs::directory_iterator(folder), {}) == 4, "something else came");
  });
  if (wrong == "skip") GTEST_SKIP() << "no mount namespace to be had";
  EXPECT_EQ(wrong, "");
  EXPECT_TRUE(fs::is_empty(folder)) << "nobody else sees it";
}

TEST_F(MountPointTest, BelowAFileThereIsNone) {
  const std::string folder = dir_.file("ro");
  const std::string wrong = in_namespace([&] { return make_mount_point(folder + "/file/new"); });
  if (wrong == "skip") GTEST_SKIP() << "no mount namespace to be had";
  EXPECT_THAT(wrong, testing::HasSubstr("mkdir " + folder + "/file"));
}

}  // namespace
}  // namespace landtrace::cli
