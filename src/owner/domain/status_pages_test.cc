// Pages that programs map, and the files in which they outlive an owner.
#include "domain/status_pages.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <filesystem>
#include <vector>

namespace landtrace::domain {
namespace {

using testing::ElementsAre;
using testing::Pair;
namespace fs = std::filesystem;

class StatusPagesTest : public testing::Test {
 protected:
  ~StatusPagesTest() override {
    for (const char* const end : {".bits", ".bytes"}) fs::remove(path_ + end);
  }
  static unsigned at(const std::byte* page, std::size_t offset) { return std::to_integer<unsigned>(page[offset]); }
  // As a program maps the page.
  static const unsigned char* map(const StatusPages& pages, Page page) {
    void* const memory = ::mmap(nullptr, StatusPages::kSize, PROT_READ, MAP_SHARED, pages.fd(page), 0);
    EXPECT_NE(memory, MAP_FAILED);
    return static_cast<const unsigned char*>(memory);
  }
  static struct stat look(const std::string& path) {
    struct stat st {};
    EXPECT_EQ(::stat(path.c_str(), &st), 0) << path;
    return st;
  }

  const std::string path_ = testing::TempDir() + "status_pages_test-" + std::to_string(::getpid());
  StatusPages pages_ = *StatusPages::create();
};

TEST_F(StatusPagesTest, ABitIsTheLowestFirstAndAByteHasItsLowestBit) {
  pages_.set(Page::kBits, 1, true);
  pages_.set(Page::kBits, 7, true);
  pages_.set(Page::kBits, 8, true);
  pages_.set(Page::kBits, StatusPages::kBits - 1, true);
  EXPECT_EQ(at(pages_.bits(), 0), 0x82u);
  EXPECT_EQ(at(pages_.bits(), 1), 0x01u);
  EXPECT_EQ(at(pages_.bits(), StatusPages::kSize - 1), 0x80u);
  pages_.set(Page::kBits, 7, false);
  EXPECT_EQ(at(pages_.bits(), 0), 0x02u);
  pages_.set(Page::kBytes, 3, true);
  EXPECT_EQ(at(pages_.bytes(), 3), 0x01u);
  pages_.set(Page::kBytes, 3, false);
  EXPECT_EQ(at(pages_.bytes(), 3), 0u);
}

TEST_F(StatusPagesTest, PlaceZeroIsNoEvents) {
  EXPECT_EQ(pages_.take(Page::kBits), 1u);
  EXPECT_EQ(pages_.take(Page::kBytes), 1u);
  pages_.set(Page::kBits, 0, true);
  pages_.set(Page::kBytes, 0, true);
  EXPECT_EQ(at(pages_.bits(), 0), 0u);
  EXPECT_EQ(at(pages_.bytes(), 0), 0u);
  pages_.give_back(Page::kBits, 0);
  EXPECT_EQ(pages_.take(Page::kBits), 2u);
  EXPECT_FALSE(pages_.take_again(Page::kBits, 0));
}

TEST_F(StatusPagesTest, TheLowestFreePlaceIsTaken) {
  for (std::uint32_t place = 1; place <= 10; ++place) EXPECT_EQ(pages_.take(Page::kBits), place);
  pages_.give_back(Page::kBits, 7);
  pages_.give_back(Page::kBits, 3);
  pages_.give_back(Page::kBits, 5);
  EXPECT_EQ(pages_.take(Page::kBits), 3u);
  EXPECT_EQ(pages_.take(Page::kBits), 5u);
  EXPECT_EQ(pages_.take(Page::kBits), 7u);
  EXPECT_EQ(pages_.take(Page::kBits), 11u);
  EXPECT_EQ(pages_.take(Page::kBytes), 1u) << "the other page has places of its own";
}

TEST_F(StatusPagesTest, APlaceThatIsGivenBackIsCleared) {
  const std::uint32_t place = *pages_.take(Page::kBits);
  pages_.set(Page::kBits, place, true);
  pages_.give_back(Page::kBits, place);
  EXPECT_EQ(at(pages_.bits(), 0), 0u);
}

TEST_F(StatusPagesTest, APageThatIsFullSaysSo) {
  for (std::uint32_t place = 1; place < StatusPages::kSize; ++place) ASSERT_EQ(pages_.take(Page::kBytes), place);
  EXPECT_EQ(pages_.take(Page::kBytes).error().code, EMFILE);
  EXPECT_EQ(pages_.take(Page::kBytes).error().code, EMFILE);
  pages_.give_back(Page::kBytes, 4000);
  EXPECT_EQ(pages_.take(Page::kBytes), 4000u);
  for (std::uint32_t place = 1; place < StatusPages::kBits; ++place) ASSERT_EQ(pages_.take(Page::kBits), place);
  EXPECT_EQ(pages_.take(Page::kBits).error().code, EMFILE);
}

TEST_F(StatusPagesTest, APlaceOfAnEarlierOwnerIsHadOnce) {
  EXPECT_TRUE(pages_.take_again(Page::kBits, 2));
  EXPECT_FALSE(pages_.take_again(Page::kBits, 2));
  EXPECT_EQ(pages_.take(Page::kBits), 1u);
  EXPECT_EQ(pages_.take(Page::kBits), 3u) << "who comes later goes around it";
  EXPECT_FALSE(pages_.take_again(Page::kBits, 3));
  EXPECT_TRUE(pages_.take_again(Page::kBits, StatusPages::kBits - 1));
  EXPECT_FALSE(pages_.take_again(Page::kBits, StatusPages::kBits));
  EXPECT_TRUE(pages_.take_again(Page::kBytes, StatusPages::kSize - 1));
  EXPECT_FALSE(pages_.take_again(Page::kBytes, StatusPages::kSize));
}

TEST_F(StatusPagesTest, WatchersAreToldOfEachByteThatChanges) {
  struct Told : StatusPages::Watcher {
    void page_changed(Page page, std::size_t offset) override { told.emplace_back(page, offset); }
    std::vector<std::pair<Page, std::size_t>> told;
  } watcher, other;
  pages_.add_watcher(watcher);
  pages_.add_watcher(other);
  pages_.set(Page::kBits, 17, true);
  pages_.set(Page::kBits, 17, true);
  pages_.set(Page::kBytes, 17, false);
  pages_.set(Page::kBytes, 17, true);
  pages_.set(Page::kBits, 17, false);
  EXPECT_THAT(watcher.told, ElementsAre(Pair(Page::kBits, 2), Pair(Page::kBytes, 17), Pair(Page::kBits, 2)));
  EXPECT_EQ(other.told.size(), 3u);
  pages_.remove_watcher(watcher);
  pages_.set(Page::kBits, 17, true);
  EXPECT_EQ(watcher.told.size(), 3u);
  EXPECT_EQ(other.told.size(), 4u);
}

TEST_F(StatusPagesTest, ProgramsMapThePageAndCannotWriteIt) {
  const auto* const bits = map(pages_, Page::kBits);
  pages_.set(Page::kBits, 9, true);
  EXPECT_EQ(bits[1], 2);
  EXPECT_EQ(::mmap(nullptr, StatusPages::kSize, PROT_READ | PROT_WRITE, MAP_SHARED, pages_.fd(Page::kBits), 0),
            MAP_FAILED);
  EXPECT_EQ(errno, EACCES);
  const std::string again = "/proc/self/fd/" + std::to_string(pages_.fd(Page::kBits));
  const Fd writable(::open(again.c_str(), O_RDWR | O_CLOEXEC));
  if (writable) {
    EXPECT_EQ(::mmap(nullptr, StatusPages::kSize, PROT_READ | PROT_WRITE, MAP_SHARED, writable.get(), 0), MAP_FAILED);
    EXPECT_LT(::pwrite(writable.get(), "x", 1, 0), 0) << "also by whoever opens it anew";
  }
}

TEST_F(StatusPagesTest, PagesInFilesBeginCleared) {
  ASSERT_TRUE(pages_.keep_in(path_, false));
  for (const char* const end : {".bits", ".bytes"}) {
    const struct stat st = look(path_ + end);
    EXPECT_EQ(st.st_mode & 07777, 0644u) << "other users' programs map it, too";
    EXPECT_EQ(st.st_size, static_cast<off_t>(StatusPages::kSize));
  }
  pages_.set(Page::kBits, 9, true);
  pages_.set(Page::kBytes, 9, true);
  EXPECT_EQ(map(pages_, Page::kBits)[1], 2);
  auto next = *StatusPages::create();
  ASSERT_TRUE(next.keep_in(path_, true));
  EXPECT_EQ(at(next.bits(), 1), 0u);
  EXPECT_EQ(at(next.bytes(), 9), 0u);
}

TEST_F(StatusPagesTest, TheNextOwnerGoesOnWithThePagesThatProgramsHaveMapped) {
  ASSERT_TRUE(pages_.keep_in(path_, false));
  const auto* const bits = map(pages_, Page::kBits);
  const auto* const bytes = map(pages_, Page::kBytes);
  auto next = *StatusPages::create();
  ASSERT_TRUE(next.keep_in(path_, true));
  next.set(Page::kBits, 9, true);
  next.set(Page::kBytes, 5, true);
  EXPECT_EQ(bits[1], 2);
  EXPECT_EQ(bytes[5], 1);
  EXPECT_EQ(::mmap(nullptr, StatusPages::kSize, PROT_WRITE, MAP_SHARED, next.fd(Page::kBits), 0), MAP_FAILED);
}

TEST_F(StatusPagesTest, WhereNoJournalWasFoundThePagesAreNewOnes) {
  ASSERT_TRUE(pages_.keep_in(path_, false));
  const auto* const bits = map(pages_, Page::kBits);
  auto next = *StatusPages::create();
  ASSERT_TRUE(next.keep_in(path_, false));
  next.set(Page::kBits, 9, true);
  EXPECT_EQ(bits[1], 0);
}

TEST_F(StatusPagesTest, FilesThatAreNotSoundAreReplaced) {
  const std::string bits = path_ + ".bits";
  const auto is_gone_on_with = [&](const std::function<void()>& spoil) {
    auto before = *StatusPages::create();
    EXPECT_TRUE(before.keep_in(path_, false));
    const Fd held(::open(bits.c_str(), O_RDONLY | O_CLOEXEC));  // so that its number is not given again
    const ino_t number = look(bits).st_ino;
    spoil();
    auto next = *StatusPages::create();
    EXPECT_TRUE(next.keep_in(path_, true));
    EXPECT_EQ(look(bits).st_size, static_cast<off_t>(StatusPages::kSize));
    return look(bits).st_ino == number;
  };
  EXPECT_TRUE(is_gone_on_with([] {}));
  EXPECT_FALSE(is_gone_on_with([&] { ::chmod(bits.c_str(), 0666); })) << "others may write it";
  EXPECT_FALSE(is_gone_on_with([&] { fs::resize_file(bits, 100); })) << "a read behind its end would be a fault";
  EXPECT_FALSE(is_gone_on_with([&] { fs::create_hard_link(bits, bits + ".link"); }));
  fs::remove(bits + ".link");
  EXPECT_FALSE(is_gone_on_with([&] { fs::remove(bits); }));
  if (::geteuid() == 0) {
    EXPECT_FALSE(is_gone_on_with([&] { std::ignore = ::chown(bits.c_str(), 65534, 0); }));
  }
  EXPECT_FALSE(is_gone_on_with([&] {
    fs::rename(bits, bits + ".moved");
    fs::create_symlink(bits + ".moved", bits);
  }));
  EXPECT_FALSE(fs::is_symlink(bits));
  fs::remove(bits + ".moved");
}

TEST_F(StatusPagesTest, FilesThatCannotBeMadeLeaveThePagesAsTheyAre) {
  EXPECT_EQ(pages_.keep_in(testing::TempDir() + "no/such/folder/x", false).error().code, ENOENT);
  pages_.set(Page::kBits, 9, true);
  EXPECT_EQ(map(pages_, Page::kBits)[1], 2);
}

TEST_F(StatusPagesTest, FilesThatGoLeaveTheMappings) {
  ASSERT_TRUE(pages_.keep_in(path_, false));
  const auto* const bits = map(pages_, Page::kBits);
  pages_.remove_files();
  EXPECT_FALSE(fs::exists(path_ + ".bits"));
  EXPECT_FALSE(fs::exists(path_ + ".bytes"));
  pages_.set(Page::kBits, 9, true);
  EXPECT_EQ(bits[1], 2);
  pages_.remove_files();
}

}  // namespace
}  // namespace landtrace::domain
