#include "preload/user_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>

namespace landtrace::preload {
namespace {

constexpr std::size_t kPage = 4096;

// Three pages, the one in the middle readable alone.
class UserMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
    all_ = static_cast<char*>(::mmap(nullptr, 3 * kPage, PROT_NONE, kFlags, -1, 0));
    page_ = all_ + kPage;
    ASSERT_EQ(::mprotect(page_, kPage, PROT_READ | PROT_WRITE), 0);
    errno = EDOM;
  }
  void TearDown() override { ::munmap(all_, 3 * kPage); }
  // In a thread that remembers nothing yet.
  static bool is_readable_at_first(const void* at, std::size_t size) {
    bool readable = false;
    std::thread([&] {
      errno = EDOM;
      readable = is_readable(at, size);
      EXPECT_EQ(errno, EDOM);
    }).join();
    return readable;
  }

  char* all_ = nullptr;
  char* page_ = nullptr;
};

TEST_F(UserMemoryTest, WhatIsThereIsReadable) {
  EXPECT_TRUE(is_readable_at_first(page_, kPage));
  EXPECT_TRUE(is_readable_at_first(page_ + kPage - 1, 1));
  EXPECT_TRUE(is_readable_at_first(page_, 1));
}

TEST_F(UserMemoryTest, OneByteBeyondIsNot) {
  EXPECT_FALSE(is_readable_at_first(page_, kPage + 1));
  EXPECT_FALSE(is_readable_at_first(page_ + kPage - 1, 2));
  EXPECT_FALSE(is_readable_at_first(page_ - 1, 2));
  EXPECT_FALSE(is_readable_at_first(page_ - 1, 1));
  EXPECT_FALSE(is_readable_at_first(all_, 3 * kPage));
}

TEST_F(UserMemoryTest, NothingIsReadableAnywhere) {
  EXPECT_TRUE(is_readable(nullptr, 0));
  EXPECT_TRUE(is_readable(all_, 0));
  EXPECT_FALSE(is_readable(nullptr, 1));
}

TEST_F(UserMemoryTest, ARangeThatGoesRoundTheEndOfMemoryIsNot) {
  EXPECT_FALSE(is_readable(page_, SIZE_MAX));
  EXPECT_FALSE(is_readable(reinterpret_cast<const void*>(UINTPTR_MAX), 1));
  EXPECT_FALSE(is_readable(reinterpret_cast<const void*>(UINTPTR_MAX), 2));
}

TEST_F(UserMemoryTest, PagesThatFallOnOnePlaceOfTheMemoryAreLookedAtEach) {
  constexpr std::size_t kMany = 64 * 70;
  auto* const many =
      static_cast<char*>(::mmap(nullptr, kMany * kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  EXPECT_TRUE(is_readable(many, kMany * kPage));
  ASSERT_EQ(::munmap(many + 100 * kPage, kPage), 0);
  EXPECT_FALSE(is_readable_at_first(many, kMany * kPage));
  ::munmap(many, kMany * kPage);
}

TEST_F(UserMemoryTest, VectorsAreLookedAtOneByOne) {
  iovec vectors[] = {{page_, 5}, {nullptr, 0}, {page_ + 100, kPage - 100}};
  EXPECT_TRUE(point_to_readable(vectors, 3));
  EXPECT_TRUE(point_to_readable(nullptr, 0));
  vectors[2].iov_len += 1;
  EXPECT_TRUE(point_to_readable(vectors, 2));
  std::thread([&] { EXPECT_FALSE(point_to_readable(vectors, 3)); }).join();
}

TEST_F(UserMemoryTest, BytesAreCopiedWholeOrNotAtAll) {
  char bytes[8] = "1234567";
  EXPECT_TRUE(copy_out(page_ + kPage - 8, bytes, 8));
  EXPECT_EQ(std::memcmp(page_ + kPage - 8, bytes, 8), 0);
  EXPECT_FALSE(copy_out(page_ + kPage - 7, bytes, 8));
  EXPECT_FALSE(copy_out(nullptr, bytes, 1));
  EXPECT_TRUE(copy_out(page_, bytes, 8));
  char copy[8] = {};
  EXPECT_TRUE(copy_in(copy, page_, 8));
  EXPECT_STREQ(copy, "1234567");
  EXPECT_FALSE(copy_in(copy, page_ + kPage - 7, 8));
  ASSERT_EQ(::mprotect(page_, kPage, PROT_READ), 0);
  EXPECT_FALSE(copy_out(page_, bytes, 1));
  EXPECT_TRUE(copy_in(copy, page_, 1));
}

}  // namespace
}  // namespace landtrace::preload
