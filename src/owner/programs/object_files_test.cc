#include "programs/object_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

extern "C" {
int lt_object_files_test_zero;
int lt_object_files_test_seven = 7;
}
extern "C" __attribute__((noinline, used)) int lt_object_files_test_function(int a) { return a + 1; }

namespace landtrace::programs {
namespace {

const Asker kSelf{{::geteuid(), ::getegid()}, 0};

TEST(ObjectFiles, AreKnownByDeviceAndInode) {
  ObjectFiles files;
  const auto found = files.open(kSelf, "/proc/self/exe");
  ASSERT_TRUE(found);
  struct stat st {};
  ASSERT_EQ(::stat("/proc/self/exe", &st), 0);
  EXPECT_EQ(found->device, st.st_dev);
  EXPECT_EQ(found->inode, st.st_ino);
  EXPECT_EQ(found->build_id.size(), 20u);
}

TEST(ObjectFiles, WhatIsNoFileIsRefused) {
  ObjectFiles files;
  EXPECT_EQ(files.open(kSelf, "/nosuch/file").error().code, ENOENT);
  EXPECT_EQ(files.open(kSelf, "/tmp").error().code, EINVAL);
  EXPECT_EQ(files.open(kSelf, "/dev/null").error().code, EINVAL);
  const std::string fifo = testing::TempDir() + "object_files_test-" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(files.open(kSelf, fifo).error().code, EINVAL);
  std::filesystem::remove(fifo);
}

TEST(ObjectFiles, AFunctionIsFoundWhereItLiesInTheFile) {
  ObjectFiles files;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const auto place = files.find_function(kSelf, self, "lt_object_files_test_function");
  ASSERT_TRUE(place);
  std::ifstream file(self, std::ios::binary);
  std::string bytes(place->spot.size, '\0');
  file.seekg(static_cast<std::streamoff>(place->spot.offset));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  EXPECT_EQ(bytes, std::string(reinterpret_cast<const char*>(&lt_object_files_test_function), place->spot.size));
  EXPECT_EQ(files.find_function(kSelf, self, "lt_no_such_function").error().code, ENOENT);
  const std::string text = testing::TempDir() + "object_files_test-text-" + std::to_string(::getpid());
  std::ofstream(text) << "not an object";
  EXPECT_EQ(files.find_function(kSelf, text, "main").error().code, ENOENT);
  EXPECT_TRUE(files.open(kSelf, text)->build_id.empty());
  std::filesystem::remove(text);
}

TEST(ObjectFiles, DataIsAsFarFromAFunctionAsInMemory) {
  ObjectFiles files;
  const auto function = reinterpret_cast<std::uint64_t>(&lt_object_files_test_function);
  const auto place = files.find_function(kSelf, "/proc/self/exe", "lt_object_files_test_function");
  ASSERT_TRUE(place);
  for (const auto& [name, variable] : {std::pair("lt_object_files_test_zero", &lt_object_files_test_zero),
                                       std::pair("lt_object_files_test_seven", &lt_object_files_test_seven)}) {
    const auto distance = files.find_symbol(kSelf, "/proc/self/exe", name, {place->spot.offset});
    ASSERT_TRUE(distance) << name;
    EXPECT_EQ(static_cast<std::uint64_t>(distance->at(0)), reinterpret_cast<std::uint64_t>(variable) - function);
  }
  EXPECT_EQ(files.find_symbol(kSelf, "/proc/self/exe", "lt_no_such_symbol", {place->spot.offset}).error().code, ENOENT);
  EXPECT_EQ(files.find_symbol(kSelf, "/proc/self/exe", "lt_object_files_test_zero", {~0ull}).error().code, ENOENT);
}

TEST(ObjectFiles, ALibraryMayBeCalledWithoutItsVersion) {
  EXPECT_TRUE(is_object_called("libc.so.6", "libc"));
  EXPECT_TRUE(is_object_called("libc.so.6", "libc.so"));
  EXPECT_TRUE(is_object_called("libc.so.6", "libc.so.6"));
  EXPECT_TRUE(is_object_called("bash", "bash"));
  EXPECT_FALSE(is_object_called("libcap.so.2", "libc"));
  EXPECT_FALSE(is_object_called("libc.so.6", "libc.so.7"));
  EXPECT_FALSE(is_object_called("libc.sox", "libc"));
}

TEST(ObjectFiles, AreFoundByName) {
  const std::string libc = find_object("libc.so.6");
  EXPECT_TRUE(libc.ends_with("/libc.so.6")) << libc;
  EXPECT_EQ(find_object("libc"), libc);
  EXPECT_TRUE(find_object("env").ends_with("/env"));
  EXPECT_EQ(find_object("lt_no_such_object"), "");
  EXPECT_EQ(find_object(""), "");
  EXPECT_EQ(find_object("../bin/env"), "");
}

TEST(ObjectFiles, ALargeOneIsLookedThroughWhileOthersAreServed) {
  const std::string copy = testing::TempDir() + "object_files_test-copy-" + std::to_string(::getpid());
  std::filesystem::copy_file("/proc/self/exe", copy);
  std::filesystem::resize_file(copy, std::max<std::uintmax_t>(std::filesystem::file_size(copy), 5u << 20));
  ObjectFiles files;
  EXPECT_TRUE(files.prepare(kSelf, "/nosuch/file")) << "there is nothing to wait for";
  EXPECT_FALSE(files.prepare(kSelf, copy));
  while (!files.prepare(kSelf, copy)) ::usleep(1000);
  const auto place = files.find_function(kSelf, copy, "lt_object_files_test_function");
  std::filesystem::remove(copy);
  ASSERT_TRUE(place);
  EXPECT_TRUE(place->object.analysis) << "once for all";
  EXPECT_EQ(files.open(kSelf, "/proc/self/exe")->analysis, place->object.analysis) << "by its build id";
}

}  // namespace
}  // namespace landtrace::programs
