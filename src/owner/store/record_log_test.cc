// What an owner leaves in a file, and what of it the next one believes.
#include "store/record_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "base/fd.hpp"

namespace landtrace::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
namespace fs = std::filesystem;

class RecordLogTest : public testing::Test {
 protected:
  RecordLogTest() { fs::create_directories(folder_); }
  ~RecordLogTest() override { fs::remove_all(folder_); }

  [[nodiscard]] std::optional<RecordLog::Entries> read() const { return RecordLog::read(path_, "header").entries; }
  [[nodiscard]] std::string damage() const { return RecordLog::read(path_, "header").damage; }
  [[nodiscard]] RecordLog::Entries entries() const { return read().value_or(RecordLog::Entries{{"no", "file"}}); }
  [[nodiscard]] std::string bytes() const { return read_file(path_).value_or(""); }
  void overwrite(const std::string& bytes) const { std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes; }
  void start() { ASSERT_TRUE(log_.start()); }

  const std::string folder_ = testing::TempDir() + "record_log_test-" + std::to_string(::getpid());
  const std::string path_ = folder_ + "/log";
  RecordLog log_{path_, "header"};
};

TEST_F(RecordLogTest, WhatIsPutIsFoundAgain) {
  start();
  log_.put("a", "1");
  log_.put("b", std::string("\0two", 4));
  log_.put("a", "one");
  EXPECT_THAT(entries(), ElementsAre(Pair("a", "one"), Pair("b", std::string("\0two", 4))));
  log_.erase("a");
  log_.erase("a");
  log_.erase("never there");
  EXPECT_THAT(entries(), ElementsAre(Pair("b", std::string("\0two", 4))));
}

TEST_F(RecordLogTest, WhatChangesTogetherIsWrittenTogether) {
  start();
  log_.put("a", "1");
  const std::string before = bytes();
  {
    const RecordLog::Batch all(&log_);
    log_.put("b", "2");
    {
      const RecordLog::Batch some(&log_);
      log_.put("c", "3");
    }
    log_.erase("a");
    EXPECT_EQ(bytes(), before);
  }
  EXPECT_THAT(entries(), ElementsAre(Pair("b", "2"), Pair("c", "3")));
  const RecordLog::Batch none(nullptr);
  log_.put("d", "4");
  EXPECT_EQ(entries().count("d"), 1u);
}

TEST_F(RecordLogTest, WhatChangesTogetherIsNotKeptInMemoryForLong) {
  start();
  const RecordLog::Batch all(&log_);
  for (int i = 0; i < 4096; ++i) log_.put(std::to_string(i), std::string(1024, 'x'));
  EXPECT_GT(bytes().size(), 3u << 20);
}

TEST_F(RecordLogTest, TheEndInTheMiddleOfABatch) {
  start();
  {
    const RecordLog::Batch all(&log_);
    log_.put("a", "1");
    log_.leave();
  }
  EXPECT_THAT(entries(), ElementsAre(Pair("a", "1")));
  start();
  {
    const RecordLog::Batch all(&log_);
    log_.put("b", "2");
    log_.end();
  }
  EXPECT_FALSE(fs::exists(path_));
  start();
  EXPECT_THAT(entries(), ElementsAre(Pair("a", "1"), Pair("b", "2")));
}

TEST_F(RecordLogTest, WhatWasPutBeforeTheStartIsInTheFileThen) {
  log_.put("a", "1");
  log_.put("b", "2");
  log_.erase("a");
  EXPECT_FALSE(log_.is_started());
  EXPECT_FALSE(fs::exists(path_));
  start();
  EXPECT_TRUE(log_.is_started());
  EXPECT_THAT(entries(), ElementsAre(Pair("b", "2")));
}

TEST_F(RecordLogTest, AStartReplacesWhatAnEarlierOwnerLeft) {
  {
    RecordLog earlier(path_, "header");
    earlier.put("old", "1");
    ASSERT_TRUE(earlier.start());
  }
  log_.put("new", "2");
  EXPECT_THAT(entries(), ElementsAre(Pair("old", "1"))) << "until then it stays";
  start();
  EXPECT_THAT(entries(), ElementsAre(Pair("new", "2")));
  EXPECT_FALSE(fs::exists(path_ + ".new"));
}

TEST_F(RecordLogTest, AllKeysThatBeginAlikeAreForgottenTogether) {
  start();
  for (const char* const key : {"f", "fa", "fab", "g", "e"}) log_.put(key, "x");
  log_.erase_all("fa");
  EXPECT_THAT(entries(), ElementsAre(Pair("e", "x"), Pair("f", "x"), Pair("g", "x")));
  log_.erase_all("z");
  log_.erase_all("");
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(RecordLogTest, ATornTailEndsItAndWhatCameBeforeCounts) {
  start();
  log_.put("a", "1");
  const std::size_t whole = bytes().size();
  log_.put("b", "22");
  const std::string all = bytes();
  for (std::size_t size = whole; size < all.size(); ++size) {
    overwrite(all.substr(0, size));
    EXPECT_THAT(entries(), ElementsAre(Pair("a", "1"))) << size;
    EXPECT_EQ(damage(), "") << size;
  }
}

TEST_F(RecordLogTest, ABitThatFlippedEndsIt) {
  start();
  log_.put("a", "1");
  const std::size_t whole = bytes().size();
  log_.put("b", "22");
  const std::string all = bytes();
  for (std::size_t at = whole; at < all.size(); ++at) {
    constexpr std::size_t kReserved = 13;  // three bytes at the end of a record's head, which say nothing
    if (at - whole >= kReserved && at - whole < kReserved + 3) continue;
    std::string damaged = all;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    overwrite(damaged);
    EXPECT_THAT(entries(), ElementsAre(Pair("a", "1"))) << at;
    EXPECT_EQ(damage(), path_ + " was read up to byte " + std::to_string(whole) + ": what stands there is damaged")
        << at;
  }
}

// One that asks for more than there is may be taken for a torn tail.
TEST_F(RecordLogTest, ALengthThatIsDamagedIsSaidWhereverItStands) {
  start();
  std::vector<std::size_t> begins;
  for (const char* const key : {"a", "b", "c", "d"}) {
    begins.push_back(bytes().size());
    log_.put(key, std::string(40, '+') + std::string(40, '\0'));
  }
  const std::string all = bytes();
  for (std::size_t i = 0; i < begins.size(); ++i) {
    for (std::size_t bit = 0; bit < 32; ++bit) {
      std::string damaged = all;
      damaged[begins[i] + bit / 8] = static_cast<char>(damaged[begins[i] + bit / 8] ^ 1 << bit % 8);
      overwrite(damaged);
      EXPECT_EQ(entries().size(), i) << bit;
      EXPECT_EQ(damage(),
                path_ + " was read up to byte " + std::to_string(begins[i]) + ": what stands there is damaged")
          << bit;
    }
    // Cut in the middle of the last of them it is an append that was cut, wherever that is.
    const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : all.size();
    for (std::size_t size = begins[i]; size < end; ++size) {
      overwrite(all.substr(0, size));
      EXPECT_EQ(damage(), "") << size;
      EXPECT_EQ(entries().size(), i) << size;
    }
  }
}

TEST_F(RecordLogTest, ALengthThatIsDamagedIsSaidThoughTheEndIsTorn) {
  start();
  log_.put("a", "1");
  const std::size_t whole = bytes().size();
  for (const char* const key : {"b", "c", "d"}) log_.put(key, "2");
  std::string damaged = bytes();
  damaged[whole + 3] = '\x7f';
  damaged.pop_back();
  overwrite(damaged);
  EXPECT_NE(damage(), "");
  EXPECT_THAT(entries(), ElementsAre(Pair("a", "1")));
}

TEST_F(RecordLogTest, AFileWithAnotherHeaderIsNotOurs) {
  start();
  log_.put("a", "1");
  for (const char* const other : {"headers", ""}) {
    const auto left = RecordLog::read(path_, other);
    EXPECT_FALSE(left.entries);
    EXPECT_EQ(left.damage, "") << "so it is after a reboot";
  }
  overwrite("");
  EXPECT_FALSE(read());
  overwrite("some other file\n");
  EXPECT_FALSE(read());
  EXPECT_FALSE(RecordLog::read(folder_ + "/nothing", "header").entries);
  EXPECT_EQ(RecordLog::read(folder_ + "/nothing", "header").damage, "");
}

TEST_F(RecordLogTest, AFileThatOthersMayTouchIsNotBelieved) {
  start();
  log_.put("a", "1");
  struct stat st {};
  ASSERT_EQ(::stat(path_.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  for (const mode_t mode : {0640, 0620, 0604, 0602, 0601}) {
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
    EXPECT_FALSE(read()) << std::oct << mode;
  }
  ASSERT_EQ(::chmod(path_.c_str(), 0600), 0);
  EXPECT_TRUE(read());
  fs::create_hard_link(path_, folder_ + "/link");
  EXPECT_FALSE(read()) << "another name leads to it, too";
  fs::remove(folder_ + "/link");
  EXPECT_TRUE(read());
}

TEST_F(RecordLogTest, AnythingButAnOrdinaryFileIsNotBelieved) {
  start();
  log_.put("a", "1");
  fs::rename(path_, folder_ + "/elsewhere");
  fs::create_symlink(folder_ + "/elsewhere", path_);
  EXPECT_FALSE(read());
  fs::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_FALSE(read()) << "and nobody waits for a writer";
  fs::remove(path_);
  fs::create_directory(path_);
  EXPECT_FALSE(read());
}

TEST_F(RecordLogTest, AnotherUsersFileIsNotBelieved) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to make another user's file";
  start();
  ASSERT_TRUE(read());
  ASSERT_EQ(::chown(path_.c_str(), 65534, 0), 0);
  EXPECT_FALSE(read());
}

TEST_F(RecordLogTest, TheFileDoesNotGrowWithWhatIsHistory) {
  start();
  log_.put("stays", "here");
  const std::string value(1000, 'v');
  std::size_t largest = 0;
  for (int i = 0; i < 2000; ++i) {
    log_.put("changes", value + std::to_string(i));
    largest = std::max(largest, bytes().size());
  }
  EXPECT_GT(largest, 200u << 10) << "small files are not written anew";
  EXPECT_LT(largest, 300u << 10);
  EXPECT_THAT(entries(), ElementsAre(Pair("changes", value + "1999"), Pair("stays", "here")));
}

TEST_F(RecordLogTest, ALargeFileIsReadToItsEndAndIsNotMostlyHistory) {
  start();
  const std::string value(1 << 20, 'v');
  constexpr int kKeys = 70;
  std::uintmax_t largest = 0;
  for (const char round : {'1', '2', '3'}) {
    for (int i = 0; i < kKeys; ++i) {
      log_.put("key" + std::to_string(i), value + round);
      largest = std::max(largest, fs::file_size(path_));
    }
  }
  EXPECT_GT(largest, std::uintmax_t{kKeys} << 20);
  EXPECT_LT(largest, std::uintmax_t{2 * kKeys + 2} << 20) << "it holds as much history as what counts at most";
  const auto found = RecordLog::read(path_, "header");
  EXPECT_EQ(found.damage, "");
  ASSERT_TRUE(found.entries);
  EXPECT_EQ(found.entries->size(), kKeys);
  for (const auto& [key, last] : *found.entries) EXPECT_EQ(last, value + '3') << key;
}

TEST_F(RecordLogTest, WhatIsRefusedOrDamagedIsSaid) {
  start();
  log_.put("a", "1");
  const std::size_t whole = bytes().size();
  log_.put("b", "22");
  const std::string all = bytes();
  EXPECT_EQ(damage(), "");
  overwrite(all.substr(0, all.size() - 1));
  EXPECT_EQ(damage(), "") << "a torn tail is what an owner leaves that was killed";
  overwrite(all.substr(0, 10));
  EXPECT_EQ(damage(), path_ + " is no journal") << "its header is there from the first moment";
  std::string changed = all;
  changed[all.size() - 1] = '3';
  overwrite(changed);
  EXPECT_EQ(damage(), path_ + " was read up to byte " + std::to_string(whole) + ": what stands there is damaged");
  ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
  EXPECT_EQ(damage(), path_ + " is not believed: it is no ordinary file, or others may read or write it");
  fs::remove(path_);
  fs::create_symlink(folder_ + "/elsewhere", path_);
  EXPECT_EQ(damage(), path_ + " cannot be read: Too many levels of symbolic links");
}

TEST_F(RecordLogTest, WhatIsAlivePaysForItsHistory) {
  start();
  const std::size_t empty = bytes().size();
  for (const char value : {'1', '2', '3'}) {
    for (int i = 0; i < 1000; ++i) log_.put("key" + std::to_string(i), std::string(1000, value));
  }
  const std::size_t three = bytes().size();
  EXPECT_GT(three, 3'000'000u) << "a quarter of it is alive, and so nothing was written anew";
  for (int i = 0; i < 999; ++i) log_.erase("key" + std::to_string(i));
  EXPECT_LT(bytes().size(), 300u << 10) << "most of it was history";
  EXPECT_THAT(entries(), ElementsAre(Pair("key999", std::string(1000, '3'))));
  EXPECT_GT(bytes().size(), empty);
}

TEST_F(RecordLogTest, TheSameValueOnceMoreWritesNothing) {
  start();
  log_.put("a", "1");
  const std::size_t size = bytes().size();
  log_.put("a", "1");
  EXPECT_EQ(bytes().size(), size);
}

TEST_F(RecordLogTest, AnEndRemovesTheFileAndALeaveKeepsIt) {
  start();
  log_.put("a", "1");
  log_.leave();
  EXPECT_FALSE(log_.is_started());
  log_.put("b", "2");
  EXPECT_THAT(entries(), ElementsAre(Pair("a", "1")));
  start();
  EXPECT_THAT(entries(), ElementsAre(Pair("a", "1"), Pair("b", "2"))) << "it was kept in memory";
  log_.end();
  EXPECT_FALSE(fs::exists(path_));
  log_.end();
  log_.put("c", "3");
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(RecordLogTest, AFileThatCannotBeMadeIsAnErrorAndChangesNothing) {
  RecordLog nowhere(folder_ + "/no/such/folder", "header");
  EXPECT_EQ(nowhere.start().error().code, ENOENT);
  EXPECT_FALSE(nowhere.is_started());
  fs::create_directory(path_);
  fs::create_directory(path_ + "/full");
  EXPECT_FALSE(log_.start());
  EXPECT_FALSE(fs::exists(path_ + ".new")) << "what was begun is gone";
}

TEST_F(RecordLogTest, WhatCannotBeAppendedAnyMoreIsNoLogWithAGap) {
  start();
  log_.put("a", "1");
  fs::remove_all(folder_);
  const std::string value(1000, 'v');
  for (int i = 0; i < 1000 && log_.is_started(); ++i) log_.put("changes", value + std::to_string(i));
  EXPECT_FALSE(log_.is_started()) << "the file that was to be written anew has no folder";
  EXPECT_FALSE(fs::exists(path_));
}

}  // namespace
}  // namespace landtrace::store
