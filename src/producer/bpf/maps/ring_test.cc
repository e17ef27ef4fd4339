#include "bpf/maps/ring.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "bpf/test_run.hpp"

namespace landtrace::bpf {
namespace {

using bpf_objects::MapWish;

bool put(const RecordRing& ring, std::uint64_t value, std::uint32_t length = 8) {
  const RecordRing::Record record = ring.reserve(length, 7);
  if (record.data == nullptr) return false;
  std::memset(record.data, static_cast<int>(value), length);
  std::memcpy(record.data, &value, std::min<std::size_t>(length, 8));
  ring.release(record, false);
  return true;
}

std::vector<std::uint64_t> take(const RecordRing& ring) {
  std::vector<std::uint64_t> values;
  ring.consume([&](const std::byte* data, std::uint32_t size) {
    std::uint64_t value = 0;
    std::memcpy(&value, data, std::min<std::size_t>(size, 8));
    values.push_back(value);
  });
  return values;
}

struct BpfRing : testing::Test {
  TestMaps maps{{MapWish{kRingbuf, 0, 0, 4096, 0}}};
  RecordRing ring{maps.data, maps.layouts[0]};
};

TEST_F(BpfRing, GivesRecordsInTheirOrderOverManyLaps) {
  std::mt19937_64 random(3);
  std::uint64_t next = 0, seen = 0;
  for (int i = 0; i < 2000; ++i) {
    for (std::uint64_t n = random() % 4; n > 0; --n)
      next += put(ring, next, 8 + static_cast<std::uint32_t>(random() % 300)) ? 1 : 0;
    for (const std::uint64_t value : take(ring)) EXPECT_EQ(value, seen++);
  }
  EXPECT_EQ(seen, next);
  EXPECT_GT(__atomic_load_n(ring.producer(), __ATOMIC_RELAXED), 20u * 4096);
}

TEST_F(BpfRing, WhoIsMoreThanALapLateLeavesTheRecordsOfOthersAlone) {
  put(ring, 0, 24);
  const std::uint64_t late = *ring.producer();
  const auto seen = ring.look_at_next(late);
  EXPECT_EQ(seen, 0u);
  // Zeros, where it is about to mark, too.
  put(ring, 0, 40);
  while (*ring.producer() <= late + 4096) {
    ring.consume([](const std::byte*, std::uint32_t) {});
    ASSERT_TRUE(put(ring, 0, 56));
  }
  EXPECT_FALSE(ring.mark_next(late, *seen));
  std::uint32_t count = ring.consume([](const std::byte* data, std::uint32_t size) {
    for (std::uint32_t i = 0; i < size; ++i) ASSERT_EQ(data[i], std::byte{0});
  });
  EXPECT_GT(count, 0u);
}

TEST_F(BpfRing, AMarkThatAnotherOneHasReservedByStays) {
  const auto seen = ring.look_at_next(0);
  const RecordRing::Record other = ring.reserve(8, 7);
  // As it is where the other one finds our mark, and swaps the position before we look at that again.
  *reinterpret_cast<std::uint64_t*>(other.data - kRingHeaderSize) = *seen;
  EXPECT_TRUE(ring.mark_next(0, *seen));
  EXPECT_THAT(take(ring), testing::IsEmpty());
}

TEST_F(BpfRing, AFullOneCountsWhatItDoesNotTake) {
  std::uint64_t taken = 0;
  while (put(ring, taken, 56)) ++taken;
  EXPECT_EQ(taken, 64u);
  EXPECT_EQ(*ring.dropped(), 1u);
  EXPECT_EQ(take(ring).size(), 64u);
  EXPECT_TRUE(put(ring, 1));
  EXPECT_FALSE(put(ring, 1, 4096)) << "with its header it is larger than the ring";
}

TEST_F(BpfRing, NobodySeesARecordThatIsHeldNorWhatIsBehindIt) {
  put(ring, 1);
  const RecordRing::Record held = ring.reserve(8, 4711);
  put(ring, 3);
  EXPECT_THAT(take(ring), testing::ElementsAre(1));
  EXPECT_EQ(ring.holder(), 4711u);
  EXPECT_FALSE(ring.is_readable());
  ring.release(held, true);
  EXPECT_TRUE(ring.is_readable());
  EXPECT_THAT(take(ring), testing::ElementsAre(3));
  EXPECT_FALSE(ring.is_readable());
  EXPECT_EQ(ring.holder(), 0u);
}

TEST_F(BpfRing, WhatIsLeftOfALapIsNoRecordThatAReaderGetsOnWith) {
  put(ring, 1, 4000);
  take(ring);
  const RecordRing::Record held = ring.reserve(200, 4711);
  ASSERT_EQ(held.position, 4096u);
  EXPECT_FALSE(ring.is_readable());
  EXPECT_EQ(ring.holder(), 4711u);
  ring.release(held, false);
  EXPECT_TRUE(ring.is_readable());
  EXPECT_THAT(take(ring), testing::SizeIs(1));
}

TEST_F(BpfRing, WhatADeadThreadHeldInTheNextLapIsGivenUp) {
  put(ring, 1, 4000);
  take(ring);
  static_cast<void>(ring.reserve(200, 4711));
  put(ring, 2);
  ring.release_dead(4712);
  EXPECT_FALSE(ring.is_readable());
  ring.release_dead(4711);
  EXPECT_TRUE(ring.is_readable());
  EXPECT_THAT(take(ring), testing::ElementsAre(2));
}

TEST_F(BpfRing, ADiscardedRecordIsReadableAsItsRoomIsToBecomeFree) {
  put(ring, 1, 2032);
  take(ring);
  // Up to the end of the lap, as what is left of one.
  ring.release(ring.reserve(2048, 7), true);
  ASSERT_EQ(*ring.producer(), 4096u);
  EXPECT_TRUE(ring.is_readable());
  EXPECT_THAT(take(ring), testing::IsEmpty());
  EXPECT_FALSE(ring.is_readable());
}

TEST_F(BpfRing, WhatADeadThreadHeldIsGivenUp) {
  static_cast<void>(ring.reserve(8, 4711));
  put(ring, 2);
  ring.release_dead(4712);
  EXPECT_THAT(take(ring), testing::IsEmpty());
  ring.release_dead(4711);
  EXPECT_THAT(take(ring), testing::ElementsAre(2));
}

TEST_F(BpfRing, ThreadsLoseNothingThatTheyWereToldIsIn) {
  constexpr std::uint64_t kEach = 40'000;
  constexpr std::uint64_t kThreads = 3;
  std::atomic<bool> done = false;
  std::uint64_t sent[kThreads] = {};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        if (put(ring, t << 32 | sent[t], 8 + static_cast<std::uint32_t>(i % 5) * 24)) ++sent[t];
      }
    });
  }
  std::uint64_t seen[kThreads] = {};
  const auto drain = [&] {
    for (const std::uint64_t value : take(ring)) {
      ASSERT_LT(value >> 32, kThreads);
      EXPECT_EQ(value & 0xffffffff, seen[value >> 32]++);
    }
  };
  std::thread reader([&] {
    while (!done) drain();
    drain();
  });
  for (std::thread& thread : threads) thread.join();
  done = true;
  reader.join();
  for (std::uint64_t t = 0; t < kThreads; ++t) EXPECT_EQ(seen[t], sent[t]);
  EXPECT_EQ(sent[0] + sent[1] + sent[2] + *ring.dropped(), kThreads * kEach);
}

TEST_F(BpfRing, GarbageLeadsNobodyOutOfIt) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 3000; ++round) {
    for (std::uint64_t* const word : {ring.consumer(), ring.producer()}) {
      if (random() % 2 == 0) *word = random() % 2 == 0 ? random() : random() % 16384;
    }
    auto* const somewhere = reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::byte*>(ring.consumer()) +
                                                             2 * kMapPage + random() % 512 * 8);
    *somewhere = random();
    put(ring, random(), static_cast<std::uint32_t>(random() % 4200));
    if (round % 3 == 0) *ring.consumer() = *ring.producer();
    ring.release_dead(static_cast<std::uint32_t>(ring.holder()));
    if (const auto stuck = ring.stuck()) ring.give_up(*stuck);
    ring.consume([&](const std::byte* data, std::uint32_t size) {
      EXPECT_LE(data + size, reinterpret_cast<std::byte*>(ring.consumer()) + 2 * kMapPage + 4096);
    });
  }
}

// As a thread leaves it that is killed behind the swap of the position, before it has said how long the record is.
std::uint64_t die_reserving(const RecordRing& ring, std::byte* data, std::uint64_t size, std::uint32_t length) {
  const std::uint64_t at = *ring.producer();
  const std::uint64_t total = rounded(std::uint64_t{length} + kRingHeaderSize, 8);
  const std::uint64_t left = size - at % size;
  *reinterpret_cast<std::uint64_t*>(data + 2 * kMapPage + at % size) = kRingBusy | (at >> 3 & 0xffffffff) << 32;
  *ring.producer() = at + (total > left ? left : 0) + total;
  return at;
}

TEST_F(BpfRing, APlaceOfUnknownLengthIsGivenUpWithWhatIsNotCompleteBehindIt) {
  std::byte* const begin = maps.data + maps.layouts[0].place;
  std::mt19937_64 random(4);
  for (int round = 0; round < 3000; ++round) {
    for (std::uint64_t i = random() % 5; i > 0; --i) put(ring, 1, static_cast<std::uint32_t>(random() % 400));
    take(ring);
    const std::uint64_t at = die_reserving(ring, begin, 4096, static_cast<std::uint32_t>(random() % 400));
    const bool is_another_held = random() % 3 == 0 && ring.reserve(16 + random() % 64, 9).data != nullptr;
    std::vector<std::uint64_t> behind;
    for (std::uint64_t i = random() % 4; i > 0; --i) {
      if (put(ring, 100 + i, 8 + static_cast<std::uint32_t>(random() % 100))) behind.push_back(100 + i);
    }
    ASSERT_THAT(take(ring), testing::IsEmpty()) << "nobody knows where the next record begins";
    const auto stuck = ring.stuck();
    ASSERT_TRUE(stuck && stuck->at == at && stuck->end == *ring.producer());
    // What comes meanwhile stays.
    if (put(ring, 7, 8)) behind.push_back(7);
    ring.give_up(*stuck);
    std::vector<std::uint64_t> taken = take(ring);
    // The other one is given up with the first, unless the rest of the lap lies between them as a record of its own.
    ring.release_dead(9);
    for (const std::uint64_t value : take(ring)) taken.push_back(value);
    ASSERT_EQ(taken, behind) << round << is_another_held;
    ASSERT_FALSE(ring.has_data() || ring.stuck()) << round;
  }
}

TEST_F(BpfRing, GivesUpNothingThatIsHeldOrComplete) {
  const RecordRing::Record held = ring.reserve(40, 9);
  EXPECT_FALSE(ring.stuck());
  put(ring, 2);
  ring.give_up({0, *ring.producer()});
  EXPECT_THAT(take(ring), testing::IsEmpty());
  std::memset(held.data, 0, 40);
  ring.release(held, false);
  EXPECT_THAT(take(ring), testing::ElementsAre(0, 2));
}

}  // namespace
}  // namespace landtrace::bpf
