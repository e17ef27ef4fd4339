#include <dirent.h>
#include <sys/statfs.h>
#include <sys/xattr.h>

#include "fuse/test_mount.hpp"

namespace landtrace::fuse::test {
namespace {

using ::testing::UnorderedElementsAre;

class MountedFolders : public MountTest {
 protected:
  void SetUp() override {
    MountTest::SetUp();
    if (!folder_.empty()) serve();
  }
  [[nodiscard]] std::vector<std::string> names(const std::string& folder) const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(at(folder))) {
      all.push_back(entry.path().filename().string() + (entry.is_directory() ? "/" : ""));
    }
    return all;
  }
  [[nodiscard]] struct stat about(const std::string& name) const {
    struct stat found {};
    EXPECT_EQ(::stat(at(name).c_str(), &found), 0) << errno_text(errno);
    return found;
  }
};

TEST_F(MountedFolders, ListWhatIsThere) {
  EXPECT_THAT(names(""),
              UnorderedElementsAre("notebook", "patient", "slow", "failing", "pipe", "raw", "data", "instances/"));
}

TEST_F(MountedFolders, ThousandsOfEntriesAreListedEachOnce) {
  change([&] {
    for (int i = 0; i < 5000; ++i) {
      ASSERT_TRUE(tree_->instances->make_folder("an_instance_with_a_longer_name_" + std::to_string(i), {}));
    }
  });
  auto all = names("instances");
  EXPECT_EQ(all.size(), 5000);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
}

TEST_F(MountedFolders, FilesShowTheirModesNoSizeAndOneNumberPerPath) {
  const struct stat notebook = about("notebook");
  EXPECT_EQ(notebook.st_mode, S_IFREG | 0640u);
  EXPECT_EQ(notebook.st_size, 0);
  EXPECT_EQ(notebook.st_nlink, 1);
  EXPECT_GT(notebook.st_mtime, 0);
  EXPECT_EQ(about("instances").st_mode, S_IFDIR | 0750u);
  EXPECT_EQ(about("notebook").st_ino, notebook.st_ino);
  EXPECT_NE(about("pipe").st_ino, notebook.st_ino);
}

TEST_F(MountedFolders, NumbersInListingsAreThoseOfStat) {
  DIR* const folder = ::opendir(folder_.c_str());
  ASSERT_NE(folder, nullptr);
  while (const dirent* const entry = ::readdir(folder)) {
    if (entry->d_name == std::string("..")) continue;  // of the file system around it
    EXPECT_EQ(entry->d_ino, about(entry->d_name).st_ino) << entry->d_name;
  }
  ::closedir(folder);
}

TEST_F(MountedFolders, InstancesAreMadeAndRemovedByFolders) {
  ASSERT_EQ(::mkdir(at("instances/one").c_str(), 0755), 0) << errno_text(errno);
  EXPECT_THAT(names("instances/one"), UnorderedElementsAre("trace"));
  EXPECT_EQ(::mkdir(at("instances/one").c_str(), 0755), -1);
  EXPECT_EQ(errno, EEXIST);
  const Fd inside = open("instances/one/trace", O_RDWR);
  EXPECT_EQ(write_some(inside.get(), "x"), 0);
  ASSERT_EQ(::rmdir(at("instances/one").c_str()), 0) << "full of files, one of them open: " << errno_text(errno);
  EXPECT_THAT(names("instances"), UnorderedElementsAre());
  EXPECT_EQ(::rmdir(at("instances/one").c_str()), -1);
  EXPECT_EQ(errno, ENOENT);
  ASSERT_EQ(::mkdir(at("instances/busy").c_str(), 0755), 0);
  EXPECT_EQ(::rmdir(at("instances/busy").c_str()), -1);
  EXPECT_EQ(errno, EBUSY);
}

TEST_F(MountedFolders, WhatIsGoneIsGoneAtOnce) {
  ASSERT_EQ(::mkdir(at("instances/one").c_str(), 0755), 0);
  EXPECT_TRUE(std::filesystem::exists(at("instances/one/trace")));
  change([&] { tree_->instances->made.clear(); });
  EXPECT_FALSE(std::filesystem::exists(at("instances/one/trace")));
  change([&] { ASSERT_TRUE(tree_->instances->make_folder("one", {})); });
  EXPECT_TRUE(std::filesystem::exists(at("instances/one/trace")));
}

TEST_F(MountedFolders, NothingElseIsMadeOrRemoved) {
  const auto refused = [](int result) { return result == -1 ? errno_text(errno) : "was allowed"; };
  const std::string kNo = errno_text(EPERM);
  EXPECT_EQ(refused(::open(at("fresh").c_str(), O_CREAT | O_WRONLY, 0644)), kNo);
  EXPECT_EQ(refused(::unlink(at("notebook").c_str())), kNo);
  EXPECT_EQ(refused(::rename(at("notebook").c_str(), at("fresh").c_str())), kNo);
  EXPECT_EQ(refused(::link(at("notebook").c_str(), at("fresh").c_str())), kNo);
  EXPECT_EQ(refused(::symlink("notebook", at("fresh").c_str())), kNo);
  EXPECT_EQ(refused(::mkfifo(at("fresh").c_str(), 0644)), kNo);
  EXPECT_EQ(refused(::mkdir(at("fresh").c_str(), 0755)), kNo);
  EXPECT_EQ(refused(::rmdir(at("instances").c_str())), kNo);
}

TEST_F(MountedFolders, ModesAndGroupsThatWereSetStay) {
  ASSERT_EQ(::mkdir(at("instances/one").c_str(), 0755), 0);
  ASSERT_EQ(::chmod(at("notebook").c_str(), 0664), 0);
  ASSERT_EQ(::chmod(at("instances/one/trace").c_str(), 0600), 0);
  ASSERT_EQ(::chown(at("notebook").c_str(), 0, 0), 0);
  EXPECT_EQ(about("notebook").st_mode & 07777, 0664u);
  EXPECT_EQ(about("instances/one/trace").st_mode & 07777, 0600u);
  ASSERT_EQ(::rmdir(at("instances/one").c_str()), 0);
  ASSERT_EQ(::mkdir(at("instances/one").c_str(), 0755), 0);
  EXPECT_EQ(about("instances/one/trace").st_mode & 07777, 0640u) << "another instance under the same name";
}

TEST_F(MountedFolders, TheTopFoldersGroupIsThatOfAllThatHaveNoneOfTheirOwn) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can choose any group";
  constexpr gid_t kGroup = 65534, kOwn = 65533;
  ASSERT_EQ(::chown(at("notebook").c_str(), -1, kOwn), 0);
  ASSERT_EQ(::chown(folder_.c_str(), -1, kGroup), 0);
  EXPECT_EQ(about("").st_gid, kGroup);
  EXPECT_EQ(about("instances").st_gid, kGroup);
  EXPECT_EQ(about("notebook").st_gid, kOwn);
  ASSERT_EQ(::mkdir(at("instances/one").c_str(), 0755), 0);
  EXPECT_EQ(about("instances/one/trace").st_gid, kGroup);
}

TEST_F(MountedFolders, ARemountForgetsWhatFilesWereGiven) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can choose any group";
  constexpr gid_t kGroup = 65534, kOwn = 65533;
  const auto remount = [&](const std::string& options) {
    return ::setxattr(folder_.c_str(), "user.landtrace.remount", options.data(), options.size(), 0);
  };
  ASSERT_EQ(::chown(at("notebook").c_str(), -1, kOwn), 0);
  ASSERT_EQ(remount("rw,gid=65534,mode=0711"), 0) << errno_text(errno);
  EXPECT_EQ(about("notebook").st_gid, kGroup);
  EXPECT_EQ(about("").st_gid, kGroup);
  EXPECT_EQ(about("").st_mode & 07777, 0711u);
  EXPECT_EQ(about("notebook").st_mode & 07777, 0640u);
  EXPECT_EQ(remount("gid=4294967295"), -1);
  EXPECT_EQ(remount("gid=tracing"), -1);
  EXPECT_EQ(::setxattr(at("instances").c_str(), "user.landtrace.remount", "gid=0", 5, 0), -1);
  EXPECT_EQ(about("").st_gid, kGroup);
}

TEST_F(MountedFolders, AnInstanceHasTheGroupOfItsFolder) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can choose any group";
  constexpr gid_t kGroup = 65534, kOwn = 65533;
  ASSERT_EQ(::chown(at("instances").c_str(), -1, kGroup), 0);
  ASSERT_EQ(::mkdir(at("instances/one").c_str(), 0755), 0);
  ASSERT_EQ(::chown(at("instances").c_str(), -1, 0), 0);
  EXPECT_EQ(about("instances/one").st_gid, kGroup);
  EXPECT_EQ(about("instances/one/trace").st_gid, kGroup);
  ASSERT_EQ(::chown(at("instances/one/trace").c_str(), -1, kOwn), 0);
  EXPECT_EQ(about("instances/one/trace").st_gid, kOwn);
}

TEST_F(MountedFolders, FileSystemDescribesItself) {
  struct statfs found {};
  ASSERT_EQ(::statfs(folder_.c_str(), &found), 0);
  EXPECT_EQ(found.f_namelen, 255);
}

TEST_F(MountedFolders, OwnerAndGroupAreShownAsAsked) {
  (void)unmount(folder_);
  session_.reset();
  SessionOptions options;
  options.gid = ::getegid() == 0 && ::geteuid() == 0 ? 0 : ::getegid();
  serve(options);
  EXPECT_EQ(about("notebook").st_gid, options.gid);
  EXPECT_EQ(about("notebook").st_uid, 0);
}

}  // namespace
}  // namespace landtrace::fuse::test
