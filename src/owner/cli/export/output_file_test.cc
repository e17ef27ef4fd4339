#include "cli/export/output_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace landtrace::cli {
namespace {

class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() {
    std::string folder = testing::TempDir() + "output_file_XXXXXX";
    folder_ = ::mkdtemp(folder.data());
  }
  ~OutputFileTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path() const { return folder_ + "/out"; }
  static void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  static std::string text_of(const std::string& path) { return read_file(path).value_or("(none)"); }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  std::string folder_;
};

TEST_F(OutputFileTest, ItTakesItsPlaceWhenItIsWholeAndWhatWasThereIsKept) {
  write(path(), "before");
  auto file = OutputFile::create(path(), "trace.dat", true);
  ASSERT_TRUE(file);
  ASSERT_TRUE(write_all(file->fd(), "new", 3));
  EXPECT_EQ(text_of(path()), "before");
  ASSERT_TRUE(file->keep());
  EXPECT_TRUE(file->has_replaced());
  EXPECT_EQ(text_of(path()), "new");
  EXPECT_EQ(text_of(path() + ".old"), "before");
  EXPECT_EQ(files(), 2u);
}

TEST_F(OutputFileTest, WhereNothingWasNothingIsReplaced) {
  auto file = OutputFile::create(path(), "trace.dat", true);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->keep());
  EXPECT_FALSE(file->has_replaced());
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, WhatIsNotKeptLeavesNothing) {
  write(path(), "before");
  { const auto file = OutputFile::create(path(), "trace.dat", true); }
  EXPECT_EQ(text_of(path()), "before");
  EXPECT_EQ(files(), 1u);
}

// It may be what a killed recorder left.
TEST_F(OutputFileTest, WhatAnOlderOneLeftIsNotInItsWayAndStays) {
  write(path() + ".partial", "half");
  auto file = OutputFile::create(path(), "trace.dat", true);
  ASSERT_TRUE(file);
  ASSERT_TRUE(write_all(file->fd(), "new", 3));
  ASSERT_TRUE(file->keep());
  EXPECT_EQ(text_of(path()), "new");
  EXPECT_EQ(text_of(path() + ".partial"), "half");
  EXPECT_EQ(files(), 2u);
}

TEST_F(OutputFileTest, TheRecordingItselfIsNotOverwritten) {
  write(path(), "recorded");
  std::filesystem::create_symlink(path(), path() + ".link");
  for (const std::string& name : {path(), path() + ".link"}) {
    const auto file = OutputFile::create(name, path(), true);
    ASSERT_FALSE(file);
    EXPECT_NE(file.error().message.find("the recording itself"), std::string::npos);
  }
  EXPECT_EQ(text_of(path()), "recorded");
}

TEST_F(OutputFileTest, FoldersAndPlacesThatAreNotThereAreErrors) {
  EXPECT_EQ(OutputFile::create(folder_, "trace.dat", true).error().code, EINVAL);
  EXPECT_EQ(OutputFile::create(folder_ + "/no/such", "trace.dat", true).error().code, ENOENT);
}

TEST_F(OutputFileTest, ADeviceIsWrittenAsItIs) {
  auto file = OutputFile::create("/dev/null", "trace.dat", true);
  ASSERT_TRUE(file);
  ASSERT_TRUE(write_all(file->fd(), "x", 1));
  ASSERT_TRUE(file->keep());
  struct stat st {};
  ASSERT_EQ(::stat("/dev/null", &st), 0);
  EXPECT_TRUE(S_ISCHR(st.st_mode));
}

}  // namespace
}  // namespace landtrace::cli
