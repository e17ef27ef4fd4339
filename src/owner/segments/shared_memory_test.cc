// The owner's side of the segments: what it gives out, and what becomes of it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "segments/control_memory.hpp"
#include "segments/users.hpp"

namespace landtrace::segments {
namespace {

TEST(ControlMemoryTest, TheSegmentSaysWhatTheDomainIs) {
  auto control = *ControlMemory::create({2, 3, 4, 5 << 20, abi::Version::k6_1});
  const plan::ControlSegment& segment = control.segment();
  EXPECT_EQ(segment.magic, plan::kControlMagic);
  EXPECT_EQ(segment.version, plan::kLayoutVersion);
  EXPECT_EQ(segment.raw_clock, 2u);
  EXPECT_EQ(segment.cpus, 3u);
  EXPECT_EQ(segment.claimed, 4u);
  EXPECT_EQ(segment.data_bytes, 5u << 20);
  EXPECT_EQ(segment.abi, abi::Version::k6_1);
}

TEST(ControlMemoryTest, ProducersCannotWriteTheSegment) {
  auto control = *ControlMemory::create({});
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, control.fd(), 0), MAP_FAILED);
  EXPECT_LT(::pwrite(control.fd(), "x", 1, 0), 0);
  EXPECT_NE(::ftruncate(control.fd(), 0), 0);
  void* const readable = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, control.fd(), 0);
  ASSERT_NE(readable, MAP_FAILED);
  EXPECT_EQ(static_cast<plan::ControlSegment*>(readable)->magic, plan::kControlMagic);
  ::munmap(readable, 4096);
}

TEST(ControlMemoryTest, WhatIsStoredLiesBehindTheSegmentsHead) {
  auto control = *ControlMemory::create({});
  EXPECT_EQ(control.bytes_in_use(), 0u);
  const std::uint32_t words[] = {1, 2, 3};
  const std::uint32_t at = *control.store(std::as_bytes(std::span(words)));
  EXPECT_GE(at, sizeof(plan::ControlSegment));
  EXPECT_EQ(at % 8, 0u);
  EXPECT_EQ(std::memcmp(control.at(at), words, sizeof words), 0);
  const std::uint32_t aligned = *control.allocate(10, 64);
  EXPECT_EQ(aligned % 64, 0u);
  EXPECT_NE(aligned, at);
  control.free(at), control.free(aligned);
  EXPECT_EQ(control.bytes_in_use(), 0u);
}

TEST(ControlMemoryTest, NothingIsAtZero) {
  auto control = *ControlMemory::create({});
  EXPECT_EQ(control.store({}), 0u);
  EXPECT_EQ(control.bytes_in_use(), 0u);
}

TEST(ControlMemoryTest, ASegmentThatIsFullSaysSo) {
  auto control = *ControlMemory::create({});
  const std::uint32_t half = *control.allocate(plan::kControlBytes / 2, 8);
  EXPECT_EQ(control.allocate(plan::kControlBytes / 2, 8).error().code, ENOSPC);
  control.free(half);
  EXPECT_TRUE(control.allocate(plan::kControlBytes / 2, 8));
}

TEST(ControlMemoryTest, ProducersSeeWhenTheOwnersThreadIsGone) {
  auto control = *ControlMemory::create({});
  pthread_mutex_t& alive = control.segment().owner_alive;
  std::thread([&] { control.mark_owner_alive(); }).join();
  EXPECT_EQ(::pthread_mutex_trylock(&alive), EOWNERDEAD);
  ::pthread_mutex_consistent(&alive);
  ::pthread_mutex_unlock(&alive);
  control.mark_owner_alive();
  std::thread([&] { EXPECT_EQ(::pthread_mutex_trylock(&alive), EBUSY); }).join();
  ::pthread_mutex_unlock(&alive);
}

constexpr std::uint64_t kRoom = 16 << 20;

class UsersTest : public testing::Test {
 protected:
  Users users_{sizeof(plan::DataSegment) + kRoom};
};

TEST_F(UsersTest, EachUserHasASegmentOfTheirOwn) {
  EXPECT_EQ(users_.find_or_create(1000), 0u);
  EXPECT_EQ(users_.find_or_create(0), 1u);
  EXPECT_EQ(users_.find_or_create(1000), 0u);
  ASSERT_EQ(users_.all().size(), 2u);
  EXPECT_EQ(users_.all()[1].uid, 0u);
  EXPECT_NE(users_.all()[0].mapping.data(), users_.all()[1].mapping.data());
  for (const User& user : users_.all()) {
    EXPECT_EQ(user.data().magic, plan::kDataMagic);
    EXPECT_EQ(user.data().version, plan::kLayoutVersion);
    EXPECT_EQ(user.mapping.size(), users_.data_bytes());
    struct stat st {};
    ASSERT_EQ(::fstat(user.fd.get(), &st), 0);
    EXPECT_EQ(static_cast<std::uint64_t>(st.st_size), users_.data_bytes());
  }
}

TEST_F(UsersTest, AProgramCannotShrinkItsSegmentNorSealIt) {
  ASSERT_TRUE(users_.find_or_create(1000));
  const int fd = users_.all()[0].fd.get();
  EXPECT_NE(::ftruncate(fd, 0), 0);
  EXPECT_NE(::fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
}

TEST_F(UsersTest, ADomainHasSoManyUsersAndNoMore) {
  for (std::uint32_t uid = 0; uid < plan::kMaxUsers; ++uid) ASSERT_EQ(users_.find_or_create(uid), uid);
  EXPECT_EQ(users_.find_or_create(plan::kMaxUsers).error().code, ENOSPC);
  EXPECT_EQ(users_.find_or_create(3), 3u);
}

TEST_F(UsersTest, ARangeIsAPlaceInEverySegmentAndComesBackEmpty) {
  ASSERT_TRUE(users_.find_or_create(1000));
  const std::uint64_t range = *users_.allocate(8 << 20);
  EXPECT_GE(range, sizeof(plan::DataSegment));
  EXPECT_EQ(range % 4096, 0u);
  ASSERT_TRUE(users_.find_or_create(1001));
  std::vector<std::byte*> places;
  for (const User& user : users_.all()) places.push_back(user.mapping.data() + range);
  for (std::byte* const place : places) place[0] = place[(8 << 20) - 1] = std::byte{0xff};
  users_.free(range, 8 << 20);
  for (const std::byte* const place : places) {
    EXPECT_EQ(place[0], std::byte{0});
    EXPECT_EQ(place[(8 << 20) - 1], std::byte{0});
  }
  EXPECT_EQ(users_.allocate(8 << 20), range);
}

TEST_F(UsersTest, SegmentsThatAreFullSaySo) {
  EXPECT_EQ(users_.allocate(kRoom + 8192).error().code, ENOSPC);
  const std::uint64_t range = *users_.allocate(kRoom / 2);
  EXPECT_EQ(users_.allocate(kRoom / 2 + 8192).error().code, ENOSPC);
  users_.free(range, kRoom / 2);
  EXPECT_TRUE(users_.allocate(kRoom - 8192));
}

}  // namespace
}  // namespace landtrace::segments
