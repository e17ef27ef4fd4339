#include "buffer/buffer.hpp"

#include <gmock/gmock.h>

#include "buffer/test_domain.hpp"

namespace landtrace::buffer {
namespace {

class BufferTest : public ::testing::Test {
 protected:
  static Seen seen_in(const std::shared_ptr<Contents>& contents) {
    Seen seen;
    Reading reading(contents, kAllCpus);
    seen.take_all(reading.merge);
    return seen;
  }
};

TEST_F(BufferTest, SizesAreToldAsTheKernelRoundsThem) {
  TestDomain domain(domain::kDefaultRingBytes);
  Buffer buffer(*domain, 0);
  EXPECT_EQ(buffer.bytes(0) >> 10, 1410u);
  ASSERT_TRUE(buffer.resize(kAllCpus, 100 << 10));
  EXPECT_EQ(buffer.bytes(0) >> 10, 103u);
  ASSERT_TRUE(buffer.resize(kAllCpus, 1 << 10));
  EXPECT_EQ(buffer.bytes(0) >> 10, 7u);
  EXPECT_EQ(buffer.resize(kAllCpus, 1ull << 50).error().code, ENOMEM);
  EXPECT_EQ(buffer.bytes(0) >> 10, 7u);
}

TEST_F(BufferTest, SnapshotsSwap) {
  TestDomain domain;
  Buffer buffer(*domain, 0);
  EXPECT_EQ(buffer.snapshot(), nullptr);
  domain.write_many(kTid, 0, 3);
  ASSERT_TRUE(buffer.take_snapshot());
  domain.write_many(kTid, 3, 5);
  EXPECT_EQ(seen_in(buffer.snapshot()).events(), 3u);
  EXPECT_EQ(seen_in(buffer.main()).events(), 2u);
  EXPECT_EQ(seen_in(buffer.main()).skipped(), 3u);
  // What was the snapshot is the buffer again, and goes on.
  ASSERT_TRUE(buffer.take_snapshot());
  EXPECT_EQ(seen_in(buffer.snapshot()).next(kTid), 5u);
  EXPECT_EQ(seen_in(buffer.main()).next(kTid), 3u);
  domain.write_many(kTid, 5, 6);
  EXPECT_EQ(seen_in(buffer.main()).events(), 4u);
  EXPECT_TRUE(buffer.free_snapshot());
  EXPECT_EQ(seen_in(buffer.main()).events(), 4u);
}

TEST_F(BufferTest, SnapshotWhileWritersGoOnLosesAndDoublesNothing) {
  TestDomain domain(4 << 20);
  Buffer buffer(*domain, 0);
  Seen seen;
  std::uint64_t overrun = 0;
  const auto take_all_of = [&](Contents& contents) {
    Merge merge;
    overrun += contents.counts(kAllCpus).overrun;
    contents.consume(kAllCpus, merge);
    seen.take_all(merge);
    EXPECT_EQ(contents.counts(kAllCpus).entries, 0u);
    contents.clear(kAllCpus);
  };
  BusyWriters writers(domain, 3);
  for (int i = 0; i < 60; ++i) {
    writers.wait_for(20'000);
    ASSERT_TRUE(buffer.take_snapshot());
    // A writer may be kept from its processor for longer than a snapshot waits; what it writes then is there later.
    ASSERT_TRUE(domain->grace().drain(std::chrono::seconds(60)));
    take_all_of(*buffer.snapshot());
  }
  writers.stop();
  take_all_of(*buffer.main());
  EXPECT_EQ(seen.lost(), overrun);
  EXPECT_EQ(seen.events() + seen.lost(), writers.written());
  EXPECT_GT(seen.events(), 0u);
}

TEST_F(BufferTest, ReaderKeepsWhatItReadsThroughSwapAndResize) {
  TestDomain domain;
  Buffer buffer(*domain, 0);
  domain.write_many(kTid, 0, 1000);
  Reading reading(buffer.main(), kAllCpus);
  Seen seen;
  ASSERT_TRUE(buffer.take_snapshot());
  EXPECT_TRUE(buffer.free_snapshot());
  ASSERT_TRUE(buffer.resize(kAllCpus, 2 << 20));
  domain->grace().drain(std::chrono::seconds(1));
  domain.write_many(kTid, 1000, 3000);
  seen.take_all(reading.merge);
  EXPECT_EQ(seen.events() + seen.lost(), 1000u);
  EXPECT_EQ(seen.lost(), 0u);
}

TEST_F(BufferTest, ResizeKeepsWhatFits) {
  TestDomain domain(1 << 20);
  Buffer buffer(*domain, 0);
  domain.write_many(kTid, 0, 3000, 24);
  ASSERT_TRUE(buffer.resize(kAllCpus, 4 << 20));
  domain.write_many(kTid, 3000, 4000, 24);
  Seen seen = seen_in(buffer.main());
  EXPECT_EQ(seen.events(), 4000u);
  EXPECT_EQ(seen.skipped(), 0u);
  EXPECT_EQ(buffer.main()->counts(kAllCpus).entries, 4000u);

  domain.write_many(kTid, 4000, 40'000, 24);
  ASSERT_TRUE(buffer.resize(kAllCpus, 256 << 10));
  const Contents::Counts counts = buffer.main()->counts(kAllCpus);
  EXPECT_EQ(counts.entries + counts.overrun, 40'000u);
  seen = seen_in(buffer.main());
  EXPECT_EQ(seen.events(), counts.entries);
  EXPECT_EQ(seen.next(kTid), 40'000u);
  EXPECT_GT(seen.events(), 3000u);
}

TEST_F(BufferTest, WhatAResizeKeptGoesAsTheRingFills) {
  TestDomain domain;
  Buffer buffer(*domain, 0);
  domain.write_many(kTid, 0, 2000, 24);
  ASSERT_TRUE(buffer.resize(kAllCpus, 512 << 10));
  domain.write_many(kTid, 2000, 100'000, 24);
  const Contents::Counts counts = buffer.main()->counts(kAllCpus);
  const Seen seen = seen_in(buffer.main());
  EXPECT_EQ(seen.events(), counts.entries);
  EXPECT_EQ(counts.entries + counts.overrun, 100'000u);
  EXPECT_LE(counts.bytes, 2u * (512 << 10) * domain->instances().rings_per_set());
}

TEST_F(BufferTest, ConsumersGoOnThroughAResize) {
  TestDomain domain(1 << 20);
  Buffer buffer(*domain, 0);
  domain.write_many(kTid, 0, 100);
  Seen seen;
  Merge merge;
  buffer.main()->consume(kAllCpus, merge);
  for (int i = 0; i < 10; ++i) {
    const Merge::Source* const source = merge.next();
    seen.take(kTid, static_cast<std::uint32_t>(i));
    source->cursor->pop();
  }
  ASSERT_TRUE(buffer.resize(kAllCpus, 4 << 20));
  domain.write_many(kTid, 100, 200);
  EXPECT_EQ(buffer.main()->counts(kAllCpus).read, 10u);
  EXPECT_EQ(buffer.main()->counts(kAllCpus).entries, 190u);
  buffer.main()->consume(kAllCpus, merge);
  seen.take_all(merge);
  EXPECT_EQ(seen.events(), 200u);
  EXPECT_EQ(seen.skipped(), 0u);
  EXPECT_EQ(buffer.main()->counts(kAllCpus).read, 200u);
}

TEST_F(BufferTest, ResizeWhileWritersGoOnAccountsForEverything) {
  TestDomain domain(1 << 20);
  Buffer buffer(*domain, 0);
  BusyWriters writers(domain, 3);
  for (int i = 0; i < 30; ++i) {
    writers.wait_for(20'000);
    ASSERT_TRUE(buffer.resize(kAllCpus, std::uint64_t{256 << 10} << i % 5));
    const Contents::Counts counts = buffer.main()->counts(kAllCpus);
    EXPECT_GT(counts.entries, 0u);
  }
  writers.stop();
  const Contents::Counts counts = buffer.main()->counts(kAllCpus);
  EXPECT_EQ(counts.entries + counts.overrun, writers.written());
  const Seen seen = seen_in(buffer.main());
  EXPECT_EQ(seen.events(), counts.entries);
  EXPECT_EQ(seen.lost(), 0u);
}

TEST_F(BufferTest, CpusMayDiffer) {
  TestDomain domain;
  Buffer buffer(*domain, 0);
  if (buffer.cpus() < 2) GTEST_SKIP() << "SKIPPED: one CPU";
  domain.write_many(kTid, 0, 10);
  ASSERT_TRUE(buffer.resize(1, 2 << 20));
  EXPECT_GT(buffer.bytes(1), buffer.bytes(0));
  EXPECT_EQ(seen_in(buffer.main()).events(), 10u);
}

TEST_F(BufferTest, ModeOfOverwritingIsThatOfBothBuffers) {
  TestDomain domain;
  Buffer buffer(*domain, 0);
  buffer.set_overwrite(false);
  ASSERT_TRUE(buffer.take_snapshot());
  domain.write_many(kTid, 0, 10'000, 1000);
  Contents::Counts counts = buffer.main()->counts(kAllCpus);
  EXPECT_GT(counts.dropped, 0u);
  EXPECT_EQ(counts.overrun, 0u);
  EXPECT_EQ(counts.entries + counts.dropped, 10'000u);
  // A thread that comes to another CPU goes on there behind those that its full buffer had no room for.
  EXPECT_LE(seen_in(buffer.main()).skipped(), counts.dropped);
  ASSERT_TRUE(buffer.resize(kAllCpus, 512 << 10));
  counts = buffer.main()->counts(kAllCpus);
  EXPECT_EQ(counts.entries + counts.dropped, 10'000u);
  domain.write_many(kTid, 10'000, 10'010);
  EXPECT_EQ(buffer.main()->counts(kAllCpus).entries, counts.entries + 10);
}

TEST_F(BufferTest, SubBuffersOfAnotherSizeAreEmpty) {
  TestDomain domain;
  Buffer buffer(*domain, 0);
  domain.write_many(kTid, 0, 10);
  const std::uint64_t before = buffer.bytes(0);
  buffer.set_sub_buffer_order(5);
  EXPECT_EQ(buffer.sub_buffer_bytes(), 128u << 10);
  EXPECT_GE(buffer.bytes(0), before);
  EXPECT_EQ(buffer.main()->counts(kAllCpus).entries, 0u);
}

TEST_F(BufferTest, InstanceThatIsGoneIsKnownToBe) {
  TestDomain domain;
  const std::uint32_t index = (*domain->instances().create("foo", {}, true, true))->index;
  Buffer buffer(*domain, index);
  ASSERT_TRUE(buffer.take_snapshot());
  EXPECT_NE(buffer.instance(), nullptr);
  domain::destroy_instance(index, domain->listening(), domain->instances());
  domain->grace().drain(std::chrono::seconds(1));
  EXPECT_EQ(buffer.instance(), nullptr);
  ASSERT_TRUE(domain->instances().create("foo", {}, true, true));
  EXPECT_EQ(buffer.instance(), nullptr);
}

}  // namespace
}  // namespace landtrace::buffer
