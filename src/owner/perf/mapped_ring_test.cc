// The ring as the program that maps it sees it.
#include "perf/mapped_ring.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace landtrace::perf {
namespace {

constexpr std::size_t kPage = MappedRing::kPage;

class MappedRingTest : public testing::Test {
 protected:
  explicit MappedRingTest(MappedRing::Way way = {})
      : ring_(*MappedRing::create(1, way)),
        seen_(*Mapping::map(ring_->fd(), ring_->bytes(), Mapping::Access::kReadWrite)) {}
  perf_event_mmap_page& page() { return *reinterpret_cast<perf_event_mmap_page*>(seen_.data()); }
  void write(std::size_t size, char fill) {
    const std::vector<std::byte> record(size, static_cast<std::byte>(fill));
    ring_->write(record);
  }
  char byte_at(std::uint64_t position) { return static_cast<char>(seen_.data()[kPage + position % kPage]); }

  std::shared_ptr<MappedRing> ring_;
  Mapping seen_;
};

TEST_F(MappedRingTest, SaysWhereItsRecordsAre) {
  EXPECT_EQ(page().data_offset, kPage);
  EXPECT_EQ(page().data_size, kPage);
  EXPECT_EQ(ring_->bytes(), 2 * kPage);
}

TEST_F(MappedRingTest, ARecordIsThereFromPublishOn) {
  write(64, 'a');
  EXPECT_EQ(page().data_head, 0u);
  ring_->publish();
  EXPECT_EQ(page().data_head, 64u);
  EXPECT_EQ(byte_at(63), 'a');
}

TEST_F(MappedRingTest, IsFullUntilTheProgramHasRead) {
  write(kPage - 64, 'a');
  EXPECT_TRUE(ring_->fits(64));
  EXPECT_FALSE(ring_->fits(72));
  page().data_tail = 8;
  EXPECT_TRUE(ring_->fits(72));
  EXPECT_EQ(ring_->unread(), kPage - 72);
}

TEST_F(MappedRingTest, ARecordGoesRoundTheEnd) {
  write(kPage - 8, 'a');
  page().data_tail = kPage - 8;
  write(24, 'b');
  EXPECT_EQ(byte_at(kPage - 9), 'a');
  for (std::uint64_t position = kPage - 8; position < kPage + 16; ++position) EXPECT_EQ(byte_at(position), 'b');
  EXPECT_EQ(byte_at(kPage + 16), 'a');
}

TEST_F(MappedRingTest, ATailThatMakesNoSenseDoesNoHarm) {
  write(64, 'a');
  for (const std::uint64_t tail : {~0ull, 1ull << 40, 65ull}) {
    page().data_tail = tail;
    EXPECT_LE(ring_->unread(), kPage);
    EXPECT_FALSE(ring_->fits(kPage + 8));
  }
}

class OverwritingRingTest : public MappedRingTest {
 protected:
  OverwritingRingTest() : MappedRingTest({.overwrites = true}) {}
};

TEST_F(OverwritingRingTest, IsNeverFull) {
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(ring_->fits(1024));
    write(1024, static_cast<char>('a' + i % 26));
  }
  ring_->publish();
  EXPECT_EQ(page().data_head, 100u * 1024);
  EXPECT_EQ(byte_at(100 * 1024 - 1), 'a' + 99 % 26);
}

TEST_F(OverwritingRingTest, WhatWasSeenIsNotUnread) {
  write(512, 'a');
  EXPECT_EQ(ring_->unread(), 512u);
  ring_->forget_unread();
  page().data_tail = 8;
  EXPECT_EQ(ring_->unread(), 0u);
  write(64, 'b');
  EXPECT_EQ(ring_->unread(), 64u);
}

class BackwardRingTest : public MappedRingTest {
 protected:
  explicit BackwardRingTest(bool overwrites = true) : MappedRingTest({overwrites, true}) {}
};

TEST_F(BackwardRingTest, TheNewestRecordStandsAtTheHead) {
  write(64, 'a');
  write(32, 'b');
  ring_->publish();
  EXPECT_EQ(page().data_head, static_cast<std::uint64_t>(-96));
  for (int i = 0; i < 96; ++i) EXPECT_EQ(byte_at(page().data_head + i), i < 32 ? 'b' : 'a') << i;
  EXPECT_EQ(ring_->unread(), 96u);
}

TEST_F(BackwardRingTest, IsNeverFull) {
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(ring_->fits(kPage));
    write(1024, static_cast<char>('a' + i % 26));
  }
  ring_->publish();
  EXPECT_EQ(page().data_head, static_cast<std::uint64_t>(-100 * 1024));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(byte_at(page().data_head + i * 1024), 'a' + (99 - i) % 26);
}

class BackwardReadRingTest : public BackwardRingTest {
 protected:
  BackwardReadRingTest() : BackwardRingTest(false) {}
};

TEST_F(BackwardReadRingTest, IsFullUntilTheProgramHasRead) {
  write(kPage - 64, 'a');
  EXPECT_TRUE(ring_->fits(64));
  EXPECT_FALSE(ring_->fits(72));
  page().data_tail = static_cast<std::uint64_t>(-8);
  EXPECT_TRUE(ring_->fits(72));
}

}  // namespace
}  // namespace landtrace::perf
