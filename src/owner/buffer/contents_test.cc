#include "buffer/contents.hpp"

#include <gmock/gmock.h>
#include <sched.h>

#include <algorithm>

#include "buffer/test_domain.hpp"
#include "buffer/test_one_cpu.hpp"
#include "buffer/test_ring.hpp"
#include "domain/ring_exchange.hpp"
#include "ring/test_write.hpp"

namespace landtrace::buffer {
namespace {

class ContentsTest : public ::testing::Test {
 protected:
  std::vector<std::uint32_t> numbers(std::uint32_t cpu = kAllCpus) {
    Reading reading(contents_, cpu);
    return taken_from(reading.merge, 1u << 30);
  }
  static std::vector<std::uint32_t> taken_from(Merge& merge, std::size_t limit) {
    std::vector<std::uint32_t> numbers;
    while (const Merge::Source* const source = numbers.size() < limit ? merge.next() : nullptr) {
      numbers.push_back(number_of(source->cursor->record()));
      source->cursor->pop();
    }
    return numbers;
  }
  std::vector<std::uint32_t> consume(std::size_t limit, std::uint32_t cpu = kAllCpus) {
    Merge merge;
    contents_->consume(cpu, merge);
    auto numbers = taken_from(merge, limit);
    contents_->consumed();
    return numbers;
  }
  // Until no room is left anywhere: the thread may move between CPUs.
  std::uint32_t fill(std::uint32_t number) {
    while (contents_->counts(kAllCpus).dropped == 0) domain_.write(proxy_, kTid, number++, 1000);
    return number;
  }

  TestDomain domain_;
  domain::Proxy proxy_{*domain_};
  std::shared_ptr<Contents> contents_ = domain_.contents();
};

TEST_F(ContentsTest, ReadingTakesNothingAwayAndEndsWhereItBegan) {
  domain_.write_many(kTid, 0, 3);
  Reading first(contents_, kAllCpus);
  Reading second(contents_, kAllCpus);
  domain_.write_many(kTid, 3, 5);
  EXPECT_THAT(taken_from(first.merge, 100), ::testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(taken_from(second.merge, 100), ::testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(numbers(), ::testing::ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(ContentsTest, ConsumersShareOnePositionAndOthersBeginThere) {
  domain_.write_many(kTid, 0, 6);
  EXPECT_THAT(consume(2), ::testing::ElementsAre(0, 1));
  EXPECT_THAT(numbers(), ::testing::ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(consume(1), ::testing::ElementsAre(2));
  const Contents::Counts counts = contents_->counts(kAllCpus);
  EXPECT_EQ(counts.entries, 3u);
  EXPECT_EQ(counts.read, 3u);
  EXPECT_EQ(counts.overrun, 0u);
  EXPECT_THAT(consume(100), ::testing::ElementsAre(3, 4, 5));
  EXPECT_THAT(numbers(), ::testing::IsEmpty());
  EXPECT_EQ(contents_->counts(kAllCpus).bytes, 0u);
}

TEST_F(ContentsTest, ARingThatSaysWhatCannotBeSpoilsNoTotals) {
  domain_.write_many(kTid, 0, 3);
  const std::uint32_t guest = *domain_->join(::getuid() + 4711);
  const domain::RingPlace& place = domain_->top().place;
  auto& words = *reinterpret_cast<ring::RingWords*>(domain_->users().all()[guest].mapping.data() + place.rings);
  const auto expect_three = [&] {
    const Contents::Counts counts = contents_->counts(kAllCpus);
    EXPECT_EQ(counts.entries, 3u);
    EXPECT_EQ(counts.overrun, 0u);
    EXPECT_EQ(counts.dropped, 0u);
    EXPECT_LT(counts.bytes, 1000u);
  };
  words.discarded = ~0ull;
  expect_three();
  words.discarded = 0;
  words.commit = {1ull << 62, 1ull << 58};
  words.intent = 1ull << 62;
  expect_three();
  words.commit = {16, 1ull << 30};
  expect_three();
  words.commit = {1ull << 50, 5};
  expect_three();
}

TEST_F(ContentsTest, WhatAUserLeavesUnreadIsLostWithItsRings) {
  domain_.write_many(kTid, 0, 5);
  EXPECT_THAT(consume(2), ::testing::ElementsAre(0, 1));
  contents_->user_goes(0);
  ASSERT_TRUE(domain_->users().replace(0, ::getuid() + 1));
  const Contents::Counts counts = contents_->counts(kAllCpus);
  EXPECT_EQ(counts.entries, 0u);
  EXPECT_EQ(counts.overrun, 3u);
  EXPECT_EQ(counts.read, 2u);
  EXPECT_THAT(numbers(), ::testing::IsEmpty());
}

TEST_F(ContentsTest, CpusAreReadAndClearedOneByOne) {
  domain_.write_many(kTid, 0, 8);
  std::size_t of_cpus = 0;
  std::uint32_t busy = 0;
  for (std::uint32_t cpu = 0; cpu < domain_->instances().first_claimed(); ++cpu) {
    const std::size_t here = numbers(cpu).size();
    EXPECT_EQ(contents_->counts(cpu).entries, here);
    of_cpus += here;
    if (here > 0) busy = cpu;
  }
  EXPECT_EQ(of_cpus, 8u);
  const std::size_t before = numbers(busy).size();
  contents_->clear(busy);
  EXPECT_TRUE(numbers(busy).empty());
  EXPECT_EQ(numbers().size(), 8 - before);
}

TEST_F(ContentsTest, ClearForgetsCountsAndWhatAConsumerHadAtHand) {
  domain_.write_many(kTid, 0, 5);
  EXPECT_EQ(consume(2).size(), 2u);
  contents_->clear(kAllCpus);
  const Contents::Counts counts = contents_->counts(kAllCpus);
  EXPECT_EQ(counts.entries + counts.overrun + counts.read + counts.bytes, 0u);
  EXPECT_THAT(consume(100), ::testing::IsEmpty());
  domain_.write_many(kTid, 5, 7);
  EXPECT_THAT(consume(100), ::testing::ElementsAre(5, 6));
}

TEST_F(ContentsTest, WhatWasOverwrittenIsCountedAndToldToConsumersOnly) {
  constexpr std::uint32_t kMany = 100'000;
  domain_.write_many(kTid, 0, kMany, 24);
  const Contents::Counts counts = contents_->counts(kAllCpus);
  EXPECT_GT(counts.overrun, 0u);
  EXPECT_EQ(counts.entries + counts.overrun, kMany);
  Seen seen;
  Reading reading(contents_, kAllCpus);
  seen.take_all(reading.merge);
  EXPECT_EQ(seen.events(), counts.entries);
  EXPECT_EQ(seen.lost(), 0u);

  Merge merge;
  contents_->consume(kAllCpus, merge);
  Seen consumed;
  consumed.take_all(merge);
  EXPECT_EQ(consumed.events(), counts.entries);
  EXPECT_EQ(consumed.lost(), counts.overrun);
  EXPECT_EQ(contents_->counts(kAllCpus).overrun, counts.overrun);
  EXPECT_EQ(contents_->counts(kAllCpus).read, counts.entries);
}

TEST_F(ContentsTest, ReaderThatIsLappedCountsExactly) {
  domain_.write_many(kTid, 0, 3000, 24);
  const std::uint64_t began_with = contents_->counts(kAllCpus).entries;
  Reading reading(contents_, kAllCpus);
  Seen seen;
  domain_.write_many(kTid, 3000, 200'000, 24);
  seen.take_all(reading.merge);
  EXPECT_EQ(seen.events() + seen.lost(), began_with);
}

TEST_F(ContentsTest, ConsumerAndWritersAtOnceAccountForEverything) {
  BusyWriters writers(domain_, 2);
  Seen seen;
  Merge merge;
  for (int i = 0; i < 100; ++i) {
    writers.wait_for(1000);
    contents_->consume(kAllCpus, merge);
    seen.take_all(merge);
    contents_->consumed();
  }
  writers.stop();
  contents_->consume(kAllCpus, merge);
  seen.take_all(merge);
  EXPECT_EQ(seen.events() + seen.lost(), writers.written());
  const Contents::Counts counts = contents_->counts(kAllCpus);
  EXPECT_EQ(counts.read, seen.events());
  EXPECT_EQ(counts.overrun, seen.lost());
  EXPECT_EQ(counts.entries, 0u);
}

TEST_F(ContentsTest, ClearWhileWritersGoOn) {
  BusyWriters writers(domain_, 2);
  for (int i = 0; i < 50; ++i) {
    writers.wait_for(100);
    contents_->clear(kAllCpus);
    Reading reading(contents_, kAllCpus);
    Seen seen;
    seen.take_all(reading.merge);
  }
  const std::uint64_t before = writers.written();
  contents_->clear(kAllCpus);
  const std::uint32_t cleared[] = {writers.written(0), writers.written(1)};
  writers.wait_for(100);
  writers.stop();
  const Contents::Counts counts = contents_->counts(kAllCpus);
  Seen seen;
  Reading reading(contents_, kAllCpus);
  seen.take_all(reading.merge);
  EXPECT_EQ(seen.events(), counts.entries);
  // All that was written since, but for what a writer had written and not counted when it was cleared.
  const std::uint64_t came = counts.entries + counts.overrun;
  EXPECT_GE(came + 2, writers.written() - cleared[0] - cleared[1]);
  EXPECT_LE(came, writers.written() - before);
  for (const unsigned writer : {0u, 1u}) {
    const std::uint32_t next = seen.next(writers.tid(writer));
    // Whoever was preempted may have written nothing since, or what the other one has overwritten.
    const bool may_have_none = writers.written(writer) <= cleared[writer] + 1;
    EXPECT_TRUE(next == writers.written(writer) || counts.overrun > 0 || (may_have_none && next == 0))
        << writer << ": " << next;
  }
}

TEST_F(ContentsTest, WithoutOverwriteTheOldestStayUntilTheyAreConsumed) {
  contents_->set_overwrite(false);
  std::uint32_t number = fill(0);
  Contents::Counts counts = contents_->counts(kAllCpus);
  EXPECT_EQ(counts.dropped, 1u);
  EXPECT_EQ(counts.overrun, 0u);
  EXPECT_EQ(counts.entries, number - 1);
  EXPECT_EQ(numbers().front(), 0u);
  EXPECT_EQ(consume(1u << 30).size(), number - 1);
  domain_.write(proxy_, kTid, number, 1000);
  EXPECT_THAT(numbers(), ::testing::ElementsAre(number));
  EXPECT_EQ(contents_->counts(kAllCpus).dropped, 1u);
}

// Whatever is discarded between a reading and the moment when it makes room.
TEST_F(ContentsTest, DiscardedEventsAreMissingWhereTheRingWasFull) {
  const OnOneCpu here;
  contents_->set_overwrite(false);
  std::uint32_t number = 0;
  std::uint32_t next = 0;
  const auto is_kept = [&] {
    const std::uint64_t before = contents_->counts(kAllCpus).dropped;
    domain_.write(proxy_, kTid, number++, 1000);
    return contents_->counts(kAllCpus).dropped == before;
  };
  const auto take = [&](std::size_t limit) {
    Merge merge;
    contents_->consume(kAllCpus, merge);
    for (; limit > 0; --limit) {
      const Merge::Source* const source = merge.next();
      if (source == nullptr) break;
      next += static_cast<std::uint32_t>(source->cursor->take_lost());
      ASSERT_EQ(number_of(source->cursor->record()), next++);
      source->cursor->pop();
    }
  };
  for (std::size_t round = 0; round < 8; ++round) {
    while (is_kept()) continue;
    ASSERT_NO_FATAL_FAILURE(take(100 + round * 20));
    EXPECT_FALSE(is_kept());
    contents_->consumed();
    if (round == 3 || round == 4) {
      contents_->set_overwrite(true);
      contents_->set_overwrite(false);
    }
  }
  EXPECT_TRUE(is_kept());
  ASSERT_NO_FATAL_FAILURE(take(1u << 30));
  EXPECT_EQ(next, number);
}

TEST_F(ContentsTest, ClearMakesRoomWithoutOverwrite) {
  contents_->set_overwrite(false);
  const std::uint32_t number = fill(0);
  contents_->clear(kAllCpus);
  domain_.write(proxy_, kTid, number, 1000);
  EXPECT_THAT(numbers(), ::testing::ElementsAre(number));
  EXPECT_EQ(contents_->counts(kAllCpus).dropped, 0u);
}

TEST_F(ContentsTest, OverwriteThatIsTurnedOffKeepsWhatIsThere) {
  domain_.write_many(kTid, 0, 2000, 1000);
  const auto before = numbers();
  contents_->set_overwrite(false);
  fill(2000);
  const auto after = numbers();
  ASSERT_GE(after.size(), before.size());
  EXPECT_EQ(after.front(), before.front());
  contents_->set_overwrite(true);
  domain_.write_many(kTid, 10'000, 12'000, 1000);
  EXPECT_EQ(numbers().back(), 11'999u);
}

TEST_F(ContentsTest, OldestIsTheFirstEntry) {
  EXPECT_EQ(contents_->oldest(kAllCpus), std::nullopt);
  const std::uint64_t before = arch::read_raw_clock(domain_->clock_line().raw_clock());
  domain_.write_many(kTid, 0, 1);
  const std::uint64_t after = arch::read_raw_clock(domain_->clock_line().raw_clock());
  domain_.write_many(kTid, 1, 3);
  const auto oldest = contents_->oldest(kAllCpus);
  ASSERT_TRUE(oldest);
  EXPECT_GE(*oldest, before);
  EXPECT_LE(*oldest, after);
}

// What a resize does while a producer is late: others write to the new rings before it has finished in the old ones.
class LateProducer : public ContentsTest {
 protected:
  LateProducer() {
    ::sched_getaffinity(0, sizeof affinity_, &affinity_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    ::sched_setaffinity(0, sizeof one, &one);
    cpu_ = static_cast<std::uint32_t>(::sched_getcpu());
  }
  ~LateProducer() override { ::sched_setaffinity(0, sizeof affinity_, &affinity_); }

  // Where the instance records from here on.
  std::shared_ptr<Contents> switched() {
    const auto place = *domain_->instances().make_place(contents_->place().geometry, true);
    EXPECT_TRUE(domain::exchange_rings(domain_->top(), place, domain_->plans(), domain_->grace()));
    return std::make_shared<Contents>(domain_->users(), domain_->instances(), domain_->grace(), place, false);
  }
  // To the rings that the instance had at first.
  void write_late(std::uint32_t number) {
    const domain::RingPlace& old = first_;
    std::byte* const ring = domain_->users().all()[0].mapping.data() + old.rings + cpu_ * old.geometry.stride();
    const std::uint64_t never_full = ring::kNeverFull;
    const ring::RingSet rings{ring, &never_full, old.geometry, 0, 1};
    const arch::Segment segment{reinterpret_cast<std::byte*>(&number), sizeof number};
    EXPECT_EQ(ring::write(rings, {nullptr, domain_->instances().raw_clock()}, {7, 3, sizeof number, &segment, 1}),
              ring::WriteResult::kWritten);
  }
  void adopt_into(const std::shared_ptr<Contents>& next) {
    next->adopt(*contents_, contents_->place().geometry.size(), next);
    contents_ = next;
  }

  cpu_set_t affinity_{};
  std::uint32_t cpu_ = 0;
  const domain::RingPlace first_ = contents_->place();
};

TEST_F(LateProducer, StandsWhereItsTimeIs) {
  domain_.write_many(kTid, 0, 1);
  const auto next = switched();
  domain_.write_many(kTid, 1, 3);
  write_late(3);
  domain_.write_many(kTid, 4, 5);
  adopt_into(next);
  EXPECT_THAT(numbers(), ::testing::ElementsAre(0, 1, 2, 3, 4));
  domain_.write_many(kTid, 5, 7);
  EXPECT_THAT(consume(3), ::testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(numbers(), ::testing::ElementsAre(3, 4, 5, 6));
  const Contents::Counts counts = contents_->counts(kAllCpus);
  EXPECT_EQ(counts.entries, 4u);
  EXPECT_EQ(counts.read, 3u);
  EXPECT_EQ(counts.overrun, 0u);
}

TEST_F(LateProducer, IsCountedWhereOthersHaveFilledTheNewRingMeanwhile) {
  domain_.write_many(kTid, 0, 10);
  const auto next = switched();
  domain_.write_many(kTid, 10, 2010, 1000);
  write_late(2010);
  adopt_into(next);
  domain_.write_many(kTid, 2011, 2021);
  const auto seen = numbers();
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 2020u);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 2010u), 1);
  const Contents::Counts counts = contents_->counts(kAllCpus);
  EXPECT_EQ(counts.entries, seen.size());
  EXPECT_LT(counts.entries, 2021u);
  EXPECT_EQ(counts.entries + counts.overrun, 2021u);
}

TEST_F(LateProducer, IsCountedWhereItWasStillLater) {
  domain_.write_many(kTid, 0, 10);
  const auto next = switched();
  adopt_into(next);
  write_late(10);
  domain_.write_many(kTid, 11, 21);
  ASSERT_TRUE(domain_->grace().drain(std::chrono::seconds(60)));
  const Contents::Counts counts = contents_->counts(kAllCpus);
  EXPECT_EQ(counts.entries, 20u);
  EXPECT_EQ(counts.overrun, 1u);
}

}  // namespace
}  // namespace landtrace::buffer
