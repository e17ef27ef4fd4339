#include "cli/export/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/export/being_written.hpp"
#include "cli/export/output_folder.hpp"
#include "output/trace_dat/file_ops.hpp"
#include "output/trace_dat/test_support.hpp"

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

TEST_F(OutputFileTest, WhatCannotBecomeTheOlderOneIsSaidAtOnce) {
  write(path(), "before");
  std::filesystem::create_directory(path() + ".old");
  for (const auto& file : {OutputFile::create(path(), "trace.dat", true), OutputFile::create_lasting(path(), true)}) {
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, EISDIR);
    EXPECT_NE(file.error().message.find("out.old is a folder"), std::string::npos) << file.error().message;
  }
  EXPECT_EQ(files(), 2u);
}

TEST_F(OutputFileTest, WhatCannotBecomeTheOlderOneAtLastStaysAndTheNewOneBesideIt) {
  write(path(), "before");
  auto file = OutputFile::create_lasting(path(), true);
  ASSERT_TRUE(file);
  ASSERT_TRUE(write_all(file->fd(), "new", 3));
  std::filesystem::create_directory(path() + ".old");
  const auto kept = file->keep();
  ASSERT_FALSE(kept);
  EXPECT_NE(kept.error().message.find("what was written is " + path() + ".partial"), std::string::npos);
  EXPECT_EQ(text_of(path()), "before");
  EXPECT_EQ(text_of(path() + ".partial"), "new");
}

bool is_any(const std::string& /*name*/) { return true; }

TEST_F(OutputFileTest, AnExportedFolderLeavesTheOneThatIsRecorded) {
  auto recorded = OutputFolder::create_lasting(path(), is_any);
  ASSERT_TRUE(recorded);
  write(path() + ".partial/metadata", "recorded");
  {
    auto exported = OutputFolder::create(path(), is_any);
    ASSERT_TRUE(exported);
    write(path() + ".export/metadata", "exported");
    ASSERT_TRUE(exported->keep());
  }
  EXPECT_EQ(text_of(path() + "/metadata"), "exported");
  ASSERT_TRUE(recorded->keep());
  EXPECT_EQ(text_of(path() + "/metadata"), "recorded");
  EXPECT_EQ(text_of(path() + ".old/metadata"), "exported");
}

bool is_being_written(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

bool was_locked = false;
std::string asked_path;

// Asked of the files in PATH.old, just before the folder takes its place.
bool is_any_and_notes_lock(const std::string& /*name*/) {
  was_locked = is_being_written(asked_path + ".partial");
  return true;
}

TEST_F(OutputFileTest, AFolderHasItsLockUntilItHasItsPlace) {
  for (const std::string& folder : {path(), path() + ".old"}) {
    std::filesystem::create_directory(folder);
    write(folder + "/metadata", "before");
  }
  auto recorded = OutputFolder::create_lasting(path(), is_any_and_notes_lock);
  ASSERT_TRUE(recorded);
  asked_path = path();
  was_locked = false;
  ASSERT_TRUE(recorded->keep());
  EXPECT_TRUE(was_locked);
  EXPECT_TRUE(OutputFolder::create_lasting(path(), is_any));
}

TEST_F(OutputFileTest, WhatRecordersThatWereKilledLeftIsKeptEachTime) {
  for (const char* const text : {"first", "second", "third"}) {
    write(path() + ".partial", text);
    const auto file = OutputFile::create_lasting(path(), false);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(text_of(file->killed()), text);
  }
  EXPECT_EQ(text_of(path() + ".killed"), "first");
  EXPECT_EQ(text_of(path() + ".killed.2"), "second");
  EXPECT_EQ(text_of(path() + ".killed.3"), "third");
  EXPECT_EQ(OutputFile::create_lasting(path(), false)->killed(), "");
}

TEST_F(OutputFileTest, FoldersThatRecordersThatWereKilledLeftAreKeptEachTime) {
  for (const char* const text : {"first", "second"}) {
    std::filesystem::create_directory(path() + ".partial");
    write(path() + ".partial/metadata", text);
    const auto folder = OutputFolder::create_lasting(path(), is_any);
    ASSERT_TRUE(folder) << folder.error().message;
    EXPECT_EQ(text_of(folder->killed() + "/metadata"), text);
  }
  EXPECT_EQ(text_of(path() + ".killed/metadata"), "first");
  EXPECT_EQ(text_of(path() + ".killed.2/metadata"), "second");
}

TEST_F(OutputFileTest, AnEmptyFolderIsNotKeptInPlaceOfWhatAKilledOneLeft) {
  for (const char* const end : {".killed", ".partial"}) std::filesystem::create_directory(path() + end);
  write(path() + ".killed/metadata", "killed");
  ASSERT_TRUE(OutputFolder::create_lasting(path(), is_any));
  EXPECT_EQ(text_of(path() + ".killed/metadata"), "killed");
}

TEST_F(OutputFileTest, OnlyWhatHasItsNameIsMarkedAsBeingWritten) {
  write(path(), "x");
  const Fd first(::open(path().c_str(), O_RDONLY | O_CLOEXEC)), second(::open(path().c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(mark_as_being_written(first.get(), path()));
  EXPECT_FALSE(mark_as_being_written(second.get(), path()));
  std::filesystem::rename(path(), path() + ".killed");
  write(path(), "another one's");
  EXPECT_FALSE(mark_as_being_written(first.get(), path()));
}

// Its parts have the same names, and it would not be found any more.
TEST_F(OutputFileTest, AnUnfinishedRecordingIsNotReplaced) {
  {
    output::TraceDatWriter writer = output::create_writer(path(), 1);
    ASSERT_TRUE(writer.append(output::number_record(1, 0, 7)));
  }
  for (const bool is_beside_older : {false, true}) {
    if (is_beside_older) {
      std::filesystem::rename(path(), path() + ".new");
      write(path(), "older");
    }
    const std::size_t before = files();
    for (const auto& file : {OutputFile::create(path(), "other", true), OutputFile::create_lasting(path(), true)}) {
      ASSERT_FALSE(file);
      EXPECT_EQ(file.error().code, EEXIST);
      EXPECT_NE(file.error().message.find("`landtrace recover " + path() + "`"), std::string::npos);
    }
    EXPECT_EQ(files(), before);
  }
  ASSERT_TRUE(output::complete_recording(path()));
  EXPECT_EQ(output::read_file_records(path()).records.size(), 1u);
}

// Which has nothing but PATH.partial and an empty PATH.new until its first event.
TEST_F(OutputFileTest, WhoRecordsBesideAnOlderRecordingIsLeftAlone) {
  write(path(), "older");
  output::TraceDatWriter writer = output::create_writer(path(), 1);
  const Fd partial(::open((path() + ".partial").c_str(), O_RDONLY | O_CLOEXEC));
  for (const auto& file : {OutputFile::create(path(), "other", true), OutputFile::create_lasting(path(), true)}) {
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, EBUSY) << file.error().message;
  }
  EXPECT_TRUE(output::trace_dat::is_at(partial.get(), path() + ".partial"));
  EXPECT_EQ(files(), 3u);
  ASSERT_TRUE(writer.append(output::number_record(1, 0, 7)));
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(output::read_file_records(path()).records.size(), 1u);
  EXPECT_EQ(text_of(path() + ".old"), "older");
}

TEST_F(OutputFileTest, WhoRecordsInAFormatKeepsOthersOff) {
  auto file = OutputFile::create_lasting(path(), true);
  ASSERT_TRUE(file);
  EXPECT_EQ(output::TraceDatWriter::create(path(), {}).error().code, EBUSY);
  ASSERT_TRUE(file->keep());
}

TEST_F(OutputFileTest, ARecordingThatBeginsWhileAnotherIsExportedToItsPlaceStays) {
  for (const bool is_older_there : {false, true}) {
    if (is_older_there) write(path(), "older");
    auto file = OutputFile::create(path(), "other", true);
    ASSERT_TRUE(file);
    output::TraceDatWriter writer = output::create_writer(path(), 1);
    const auto is_kept = [&] {
      const auto kept = file->keep();
      return kept ? 0 : kept.error().code;
    };
    if (!is_older_there) {
      EXPECT_EQ(is_kept(), EBUSY);
    }
    ASSERT_TRUE(writer.append(output::number_record(1, 0, 7)));
    ASSERT_TRUE(writer.publish(0));
    if (is_older_there) {
      EXPECT_EQ(is_kept(), EBUSY);
      EXPECT_EQ(text_of(path() + ".old"), "older");
    }
    ASSERT_TRUE(writer.finish());
    EXPECT_EQ(output::read_file_records(path()).records.size(), 1u);
    std::filesystem::remove(path());
  }
}

TEST_F(OutputFileTest, AnUnfinishedRecordingIsNotReplacedAsTheOlderOne) {
  write(path(), "before");
  auto file = OutputFile::create_lasting(path(), true);
  ASSERT_TRUE(file);
  output::TraceDatWriter writer = output::create_writer(path() + ".old", 1);
  EXPECT_EQ(file->keep().error().code, EBUSY);
  EXPECT_EQ(text_of(path()), "before");
  ASSERT_TRUE(writer.append(output::number_record(1, 0, 7)));
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(output::read_file_records(path() + ".old").records.size(), 1u);
}

TEST_F(OutputFileTest, AFolderThatCannotTakeItsPlaceStaysBesideIt) {
  std::filesystem::create_directory(path());
  write(path() + "/metadata", "before");
  {
    auto folder = OutputFolder::create_lasting(path(), is_any);
    ASSERT_TRUE(folder);
    write(path() + ".partial/metadata", "new");
    write(path() + ".old", "somebody's");
    const auto kept = folder->keep();
    ASSERT_FALSE(kept);
    EXPECT_NE(kept.error().message.find("what was written is " + path() + ".partial"), std::string::npos);
  }
  EXPECT_EQ(text_of(path() + "/metadata"), "before");
  EXPECT_EQ(text_of(path() + ".partial/metadata"), "new");
  EXPECT_EQ(text_of(path() + ".old"), "somebody's");
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
