#include "code/object_path.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace landtrace::code {
namespace {

class ObjectPathTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "object_path_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    ::setenv("LD_LIBRARY_PATH", folder_.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("LD_LIBRARY_PATH");
    std::filesystem::remove_all(folder_);
  }
  void make(const std::string& name) const { std::ofstream(folder_ + "/" + name) << "file"; }

  std::string folder_;
};

TEST_F(ObjectPathTest, AWordWithASlashIsAPathWhateverIsThere) {
  EXPECT_EQ(*object_path("/nonexistent/file"), "/nonexistent/file");
  EXPECT_EQ(*object_path("./libzebra.so.1"), "./libzebra.so.1");
}

TEST_F(ObjectPathTest, ALibraryIsFoundWithAndWithoutItsVersion) {
  for (const char* const name :
       {"libzebra.so", "libzebra.so.1", "libzebra.so.1.2.3", "libzebra.so.py", "libzebra2.so.9"})
    make(name);
  EXPECT_EQ(*object_path("libzebra.so.1.2.3"), folder_ + "/libzebra.so.1.2.3");
  EXPECT_EQ(*object_path("libzebra"), folder_ + "/libzebra.so.1");
  EXPECT_EQ(*object_path("libzebra.so"), folder_ + "/libzebra.so.1");
}

TEST_F(ObjectPathTest, AProgramIsFoundInPath) { EXPECT_THAT(*object_path("env"), testing::EndsWith("/env")); }

TEST_F(ObjectPathTest, WhatIsNowhereIsSaid) {
  const auto path = object_path("libzebra.so.7");
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().code, ENOENT);
  EXPECT_EQ(path.error().message, "no file, library or program 'libzebra.so.7'");
  make("libzebra.so.8");
  EXPECT_THAT(object_names(), testing::Contains("libzebra.so.8"));
}

}  // namespace
}  // namespace landtrace::code
