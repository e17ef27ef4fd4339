#include "preload/fd_table.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/fake_owner.hpp"
#include "client/process.hpp"

namespace landtrace::preload {
namespace {

using client::ClientTest;
using client::FakeOwner;

bool operator==(const FdEntry& a, const FdEntry& b) {
  return a.generation == b.generation && a.slot == b.slot && a.access == b.access;
}

constexpr FdEntry kFile{77, 3, O_RDWR};
constexpr FdEntry kOther{78, 0xffff, O_WRONLY};
constexpr int kLast = static_cast<int>(FdTable::kMaxFds) - 1;

class FdTableTest : public ClientTest {};

TEST_F(FdTableTest, BeforeTheFirstFileNothingIsOurs) {
  in_child([] {
    EXPECT_FALSE(FdTable::is_ours(3));
    EXPECT_EQ(FdTable::end(), 0u);
    FdTable::clear(3);
    FdTable::copy(3, 4);
    FdTable::clear_range(0, ~0u);
    FdTable::unlock_all();
    EXPECT_EQ(FdTable::end(), 0u);
  });
}

TEST_F(FdTableTest, AnEntryIsWhatWasSet) {
  in_child([] {
    EXPECT_TRUE(FdTable::set(5, kFile));
    EXPECT_TRUE(FdTable::is_ours(5));
    EXPECT_TRUE(FdTable::get(5) == kFile);
    EXPECT_EQ(FdTable::get(5).file().slot, 3u);
    EXPECT_EQ(FdTable::get(5).file().generation, 77u);
    EXPECT_FALSE(FdTable::is_ours(4));
    EXPECT_FALSE(FdTable::is_ours(6));
    EXPECT_TRUE(FdTable::set(5, kOther));
    EXPECT_TRUE(FdTable::get(5) == kOther);
    FdTable::clear(5);
    EXPECT_FALSE(FdTable::is_ours(5));
  });
}

TEST_F(FdTableTest, ItsEndIsBehindTheHighestThatWasEverUsed) {
  in_child([] {
    EXPECT_TRUE(FdTable::set(5, kFile));
    EXPECT_EQ(FdTable::end(), 6u);
    EXPECT_TRUE(FdTable::set(4, kFile));
    EXPECT_EQ(FdTable::end(), 6u);
    FdTable::clear(5);
    EXPECT_EQ(FdTable::end(), 6u);
    EXPECT_TRUE(FdTable::set(0, kFile));
    EXPECT_TRUE(FdTable::set(6, kFile));
    EXPECT_EQ(FdTable::end(), 7u);
  });
}

TEST_F(FdTableTest, DescriptorsBeyondItAreNotOurs) {
  in_child([] {
    EXPECT_TRUE(FdTable::set(kLast, kFile));
    EXPECT_TRUE(FdTable::get(kLast) == kFile);
    EXPECT_EQ(FdTable::end(), FdTable::kMaxFds);
    for (const int outside : {-1, kLast + 1, INT32_MIN, INT32_MAX}) {
      EXPECT_FALSE(FdTable::set(outside, kFile)) << outside;
      EXPECT_FALSE(FdTable::is_ours(outside)) << outside;
      FdTable::clear(outside);
      FdTable::copy(kLast, outside);
      FdTable::copy(outside, kLast - 1);
    }
    EXPECT_TRUE(FdTable::get(kLast) == kFile);
  });
}

TEST_F(FdTableTest, ADuplicateIsTheSameFileAndOfOthersItIsNone) {
  in_child([] {
    EXPECT_TRUE(FdTable::set(5, kFile));
    FdTable::copy(5, 9);
    EXPECT_TRUE(FdTable::get(9) == kFile);
    EXPECT_TRUE(FdTable::get(5) == kFile);
    FdTable::copy(7, 9);
    EXPECT_FALSE(FdTable::is_ours(9));
  });
}

TEST_F(FdTableTest, ARangeIsClearedWithItsEnds) {
  in_child([] {
    for (int fd = 3; fd < 9; ++fd) EXPECT_TRUE(FdTable::set(fd, kFile));
    FdTable::clear_range(4, 6);
    for (int fd = 3; fd < 9; ++fd) EXPECT_EQ(FdTable::is_ours(fd), fd < 4 || fd > 6) << fd;
    FdTable::clear_range(8, ~0u);
    EXPECT_TRUE(FdTable::is_ours(7));
    EXPECT_FALSE(FdTable::is_ours(8));
  });
}

// -- the lock ---------------------------------------------------------------------------------------------------------
TEST_F(FdTableTest, OnlyAnEntryThatIsStillTheSameIsLocked) {
  in_child([] {
    EXPECT_TRUE(FdTable::set(5, kFile));
    EXPECT_FALSE(FdTable::lock(5, kOther));
    EXPECT_TRUE(FdTable::lock(5, kFile));
    EXPECT_FALSE(FdTable::lock(5, kFile));
    EXPECT_TRUE(FdTable::get(5) == kFile) << "whoever looks does not see the lock";
    FdTable::unlock(5, kOther);
    EXPECT_TRUE(FdTable::get(5) == kOther);
    EXPECT_TRUE(FdTable::lock(5, kOther));
    FdTable::unlock(5, {});
    EXPECT_FALSE(FdTable::is_ours(5));
  });
}

TEST_F(FdTableTest, WhoeverClosesALockedDescriptorWaits) {
  in_child([] {
    EXPECT_TRUE(FdTable::set(5, kFile));
    ASSERT_TRUE(FdTable::lock(5, kFile));
    std::atomic<bool> is_closing = false;
    std::thread closing([&] {
      is_closing = true;
      FdTable::clear(5);
    });
    while (!is_closing) std::this_thread::yield();
    FdTable::unlock(5, kOther);
    closing.join();
    EXPECT_FALSE(FdTable::is_ours(5));
  });
}

TEST_F(FdTableTest, ALockThatNobodyOpensIsNotWaitedForForEver) {
  in_child([] {
    EXPECT_TRUE(FdTable::set(5, kFile));
    ASSERT_TRUE(FdTable::lock(5, kFile));
    EXPECT_TRUE(FdTable::set(5, kOther));
    EXPECT_TRUE(FdTable::get(5) == kOther);
    EXPECT_TRUE(FdTable::lock(5, kOther));
  });
}

TEST_F(FdTableTest, AForkedChildOpensItsParentsLocks) {
  in_child([] {
    for (int fd = 5; fd < 8; ++fd) EXPECT_TRUE(FdTable::set(fd, kFile));
    ASSERT_TRUE(FdTable::lock(5, kFile));
    ASSERT_TRUE(FdTable::lock(7, kFile));
    FdTable::unlock_all();
    for (int fd = 5; fd < 8; ++fd) EXPECT_TRUE(FdTable::lock(fd, kFile)) << fd;
  });
}

TEST_F(FdTableTest, ThreadsThatMakeTheTableAtOnceHaveOneTable) {
  in_child([] {
    constexpr int kThreads = 8;
    std::atomic<int> ready = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        ++ready;
        while (ready < kThreads) std::this_thread::yield();
        FdTable::set(i, kFile);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < kThreads; ++i) EXPECT_TRUE(FdTable::is_ours(i)) << i;
    EXPECT_EQ(FdTable::end(), static_cast<unsigned>(kThreads));
  });
}

TEST_F(FdTableTest, AVforkChildIsTold) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(client::Process::get().attach());
    EXPECT_FALSE(has_own_descriptors());
    const pid_t child = ::vfork();
    if (child == 0) ::_exit(has_own_descriptors() ? 0 : 1);
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  });
}

}  // namespace
}  // namespace landtrace::preload
