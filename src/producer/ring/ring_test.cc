#include <gtest/gtest.h>
#include <sched.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/mapping.hpp"
#include "ring/reader.hpp"
#include "ring/test_write.hpp"

namespace landtrace::ring {
namespace {

// A ring set in ordinary shared memory, written in the mode that the parameter names.
class RingTest : public testing::TestWithParam<bool> {
 protected:
  static constexpr std::uint32_t kCpus = 64;

  void SetUp() override {
    if (GetParam() && !arch::rseq_usable()) GTEST_SKIP() << "SKIPPED: no restartable sequences here";
    // One thread on one CPU writes to one ring.
    const int cpu = sched_getcpu();
    ASSERT_GE(cpu, 0);
    cpu_ = static_cast<std::uint32_t>(cpu);
    CPU_ZERO(&affinity_);
    ASSERT_EQ(sched_getaffinity(0, sizeof affinity_, &affinity_), 0);
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(cpu_, &here);
    ASSERT_EQ(sched_setaffinity(0, sizeof here, &here), 0);
    make({kMinSizeLog2});
  }

  void TearDown() override { sched_setaffinity(0, sizeof affinity_, &affinity_); }

  void make(Geometry geometry) {
    geometry_ = geometry;
    const std::size_t bytes = geometry.stride() * 2 * kCpus;
    fd_ = *create_memfd("ring_test", bytes);
    memory_ = *Mapping::map(fd_.get(), bytes, Mapping::Access::kReadWrite);
    consumed_.assign(2 * kCpus, kNeverFull);
  }

  [[nodiscard]] RingSet rings() const { return {memory_.data(), consumed_.data(), geometry_, kCpus, kCpus}; }

  WriteResult emit(std::uint16_t event, const std::vector<Segment>& segments) {
    std::size_t bytes = 0;
    for (const Segment& segment : segments) bytes += segment.size;
    const WriteMode mode{GetParam() ? arch::rseq_area() : nullptr, clock_};
    return write(
        rings(), mode,
        {42, event, static_cast<std::uint32_t>(bytes), segments.data(), static_cast<std::uint32_t>(segments.size())});
  }
  WriteResult emit(std::uint16_t event, std::string_view payload) {
    return emit(event, std::vector<Segment>{{payload.data(), payload.size()}});
  }
  // A record of `length` bytes in the ring, header included, that says how many were written before it.
  WriteResult emit_numbered(std::uint64_t length) {
    std::string payload(length - sizeof(RecordHeader), 'n');
    if (!payload.empty()) std::memcpy(payload.data(), &emitted_, sizeof emitted_);
    ++emitted_;
    return emit(1, payload);
  }
  static std::uint64_t number_of(const RecordView& record) {
    std::uint64_t number = 0;
    std::memcpy(&number, record.payload.data(), sizeof number);
    return number;
  }

  [[nodiscard]] std::uint32_t ring_index() const { return GetParam() ? cpu_ : kCpus + cpu_; }
  [[nodiscard]] std::byte* ring() const { return memory_.data() + ring_index() * geometry_.stride(); }
  [[nodiscard]] RingWords& words() const { return *reinterpret_cast<RingWords*>(ring()); }
  [[nodiscard]] std::byte* data() const { return ring() + geometry_.data_offset(); }
  [[nodiscard]] std::uint64_t tail() const { return words().commit.position; }
  // Writes until exactly `left` bytes of the lap are left.
  void fill_lap_but(std::uint64_t left) {
    const std::uint64_t mask = geometry_.size() - 1;
    while (geometry_.size() - (tail() & mask) > left + 4096) emit_numbered(1024);
    const std::uint64_t rest = geometry_.size() - (tail() & mask) - left;
    emit_numbered(rest / 16 * 8);
    emit_numbered(rest - rest / 16 * 8);
    ASSERT_EQ(geometry_.size() - (tail() & mask), left == 0 ? geometry_.size() : left);
  }

  const arch::RawClock clock_ = arch::best_raw_clock();
  std::uint32_t cpu_ = 0;
  cpu_set_t affinity_;
  std::uint64_t emitted_ = 0;
  Geometry geometry_;
  Fd fd_;
  Mapping memory_;
  std::vector<std::uint64_t> consumed_;
};

INSTANTIATE_TEST_SUITE_P(Modes, RingTest, testing::Bool(),
                         [](const auto& mode) { return mode.param ? "Restartable" : "Claimed"; });

TEST_P(RingTest, ReadsBackWhatWasWritten) {
  ASSERT_EQ(emit(7, "hello, world"), WriteResult::kWritten);
  Reader reader(ring(), geometry_);
  const auto& batch = reader.read();
  ASSERT_EQ(batch.records.size(), 1u);
  EXPECT_EQ(batch.records[0].header.event, 7);
  EXPECT_EQ(batch.records[0].header.tid, 42u);
  ASSERT_EQ(batch.records[0].payload.size(), 12u);
  EXPECT_EQ(std::memcmp(batch.records[0].payload.data(), "hello, world", 12), 0);
  EXPECT_TRUE(reader.read().records.empty());
}

TEST_P(RingTest, PayloadOfEverySizeComesBackPaddedWithZeros) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = 0; size <= 300; ++size) sizes.push_back(size);
  sizes.insert(sizes.end(), {4095, 4096, 4097, 65529, 65533, 65535, 65536});
  Reader reader(ring(), geometry_);
  for (const std::uint32_t size : sizes) {
    std::memset(data(), 0xee, geometry_.size());  // what an earlier lap leaves
    std::string payload(size, '\0');
    for (std::uint32_t i = 0; i < size; ++i) payload[i] = static_cast<char>(1 + (i * 7 + size) % 255);
    ASSERT_EQ(emit(static_cast<std::uint16_t>(size % 1000), payload), WriteResult::kWritten);
    const auto& batch = reader.read();
    ASSERT_EQ(batch.records.size(), 1u) << size;
    const RecordView& record = batch.records[0];
    EXPECT_EQ(record.header.event, size % 1000);
    EXPECT_EQ(record.header.words, (size + 3) / 4);
    ASSERT_EQ(record.payload.size(), (size + 3) / 4 * 4u);
    ASSERT_EQ(std::memcmp(record.payload.data(), payload.data(), size), 0) << size;
    EXPECT_EQ(tail() % 8, 0u);
    const std::uint64_t begin = (tail() - record_length(size)) & (geometry_.size() - 1);
    for (std::uint64_t at = sizeof(RecordHeader) + size; at < record_length(size); ++at) {
      ASSERT_EQ(data()[begin + at], std::byte{0}) << size << " at " << at;
    }
    if (begin + record_length(size) < geometry_.size()) {
      ASSERT_EQ(data()[begin + record_length(size)], std::byte{0xee}) << "written beyond the record of " << size;
    }
  }
  EXPECT_EQ(reader.written(), sizes.size());
  EXPECT_EQ(reader.lost() + reader.corrupt(), 0u);
}

TEST_P(RingTest, GathersSegmentsInOrderAndSkipsEmptyOnes) {
  std::mt19937 random(1);
  Reader reader(ring(), geometry_);
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> parts(random() % 8);
    std::string whole;
    for (std::string& part : parts) {
      const std::uint32_t sizes[] = {0, 1, 7, 8, 9, 120, 127, 128, 129, static_cast<std::uint32_t>(random() % 600)};
      for (std::uint32_t i = sizes[random() % std::size(sizes)]; i > 0; --i) part += static_cast<char>(random());
      whole += part;
    }
    std::vector<Segment> segments;
    for (const std::string& part : parts) segments.push_back({part.empty() ? nullptr : part.data(), part.size()});
    ASSERT_EQ(emit(3, segments), WriteResult::kWritten);
    const auto& batch = reader.read();
    ASSERT_EQ(batch.records.size(), 1u);
    ASSERT_GE(batch.records[0].payload.size(), whole.size());
    ASSERT_EQ(std::memcmp(batch.records[0].payload.data(), whole.data(), whole.size()), 0) << round;
  }
}

TEST_P(RingTest, WrapsWhateverIsLeftInTheLap) {
  for (std::uint64_t left = 0; left <= 96; left += 8) {
    make({kMinSizeLog2});
    emitted_ = 0;
    Reader reader(ring(), geometry_);
    ASSERT_NO_FATAL_FAILURE(fill_lap_but(left));
    std::uint64_t read = 0;
    const auto drain = [&] {
      for (const Reader::Batch* batch = &reader.read(); !batch->records.empty(); batch = &reader.read()) {
        for (const RecordView& record : batch->records) {
          ASSERT_EQ(number_of(record), read);
          ++read;
        }
      }
    };
    ASSERT_NO_FATAL_FAILURE(drain());
    ASSERT_EQ(emit_numbered(104), WriteResult::kWritten);
    EXPECT_EQ(tail(), geometry_.size() + 104) << left;
    ASSERT_NO_FATAL_FAILURE(drain());
    EXPECT_EQ(read, emitted_) << left;
    EXPECT_EQ(reader.written(), emitted_);
    EXPECT_EQ(reader.lost() + reader.corrupt(), 0u) << left;
  }
}

TEST_P(RingTest, RecordMayEndExactlyAtTheEndOfTheLap) {
  for (std::uint64_t length : {24u, 32u, 104u}) {
    make({kMinSizeLog2});
    emitted_ = 0;
    Reader reader(ring(), geometry_);
    ASSERT_NO_FATAL_FAILURE(fill_lap_but(length));
    emit_numbered(length);
    EXPECT_EQ(tail(), geometry_.size());
    emit_numbered(24);
    EXPECT_EQ(tail(), geometry_.size() + 24);
    // The first record of the first lap, and what shared its place, went.
    std::uint64_t read = 0;
    while (const std::size_t n = reader.read().records.size()) read += n;
    EXPECT_EQ(read + reader.lost(), emitted_);
    EXPECT_EQ(reader.corrupt(), 0u);
  }
}

TEST_P(RingTest, WriterLapsReaderCountsLoss) {
  for (const std::uint32_t size_log2 : {18u, 20u, 24u}) {
    make({size_log2});
    emitted_ = 0;
    std::mt19937_64 random(size_log2);
    Reader reader(ring(), geometry_);
    std::uint64_t read = 0, lost = 0;
    while (tail() < geometry_.size() * 6) {
      // From a few records to more than two laps between two reads.
      const std::uint64_t stop = tail() + (geometry_.size() >> random() % 9) * (random() % 3);
      do {
        const std::uint64_t payload = random() % 20 == 0 ? random() % (kMaxPayload - 8) : random() % 400;
        ASSERT_EQ(emit_numbered(record_length(8 + payload)), WriteResult::kWritten);
      } while (tail() < stop);
      for (std::uint64_t reads = random() % 4; reads > 0; --reads) {
        const auto& batch = reader.read();
        lost += batch.lost_before;
        for (const RecordView& record : batch.records) {
          ASSERT_EQ(number_of(record), read + lost);
          ++read;
        }
      }
    }
    for (const Reader::Batch* batch = &reader.read(); !batch->records.empty(); batch = &reader.read()) {
      lost += batch->lost_before;
      for (const RecordView& record : batch->records) ASSERT_EQ(number_of(record), lost + read++);
    }
    EXPECT_EQ(reader.position(), tail());
    EXPECT_EQ(reader.lost(), lost);
    EXPECT_EQ(reader.written(), emitted_);
    EXPECT_EQ(read + lost, emitted_) << size_log2;
    EXPECT_GT(lost, 0u);
    EXPECT_EQ(reader.corrupt() + reader.discarded().all(), 0u);
  }
}

TEST_P(RingTest, FullRingDiscardsAndCountsUntilTheConsumerMoves) {
  std::mt19937_64 random(5);
  consumed_.assign(2 * kCpus, 0);
  Reader reader(ring(), geometry_);
  std::uint64_t written = 0, discarded = 0, read = 0;
  std::vector<std::uint64_t> expected;
  while (written < 500000) {
    for (std::uint64_t burst = random() % 1000; burst > 0; --burst) {
      const std::uint64_t number = emitted_;
      if (emit_numbered(record_length(8 + random() % (random() % 50 == 0 ? kMaxPayload - 8 : 200))) ==
          WriteResult::kWritten) {
        ++written;
        expected.push_back(number);
      } else {
        ++discarded;
      }
      ASSERT_LE(tail() - consumed_[ring_index()], geometry_.size());
    }
    ASSERT_EQ(reader.discarded().all(), discarded);
    for (std::uint64_t reads = random() % 3; reads > 0; --reads) {
      for (const RecordView& record : reader.read().records) ASSERT_EQ(number_of(record), expected[read++]);
      consumed_[ring_index()] = reader.position();
    }
  }
  while (const std::size_t n = reader.read().records.size()) read += n;
  EXPECT_GT(discarded, 0u);
  EXPECT_EQ(read, written);
  EXPECT_EQ(written + discarded, emitted_);
  EXPECT_EQ(reader.written(), written);
  EXPECT_EQ(reader.lost() + reader.corrupt(), 0u);
}

TEST_P(RingTest, DiscardModeFillsTheRingToTheLastByte) {
  consumed_.assign(2 * kCpus, 0);
  while (tail() < geometry_.size()) ASSERT_EQ(emit_numbered(1024), WriteResult::kWritten);
  EXPECT_EQ(emit(1, ""), WriteResult::kDiscarded);
  consumed_[ring_index()] = 16;
  EXPECT_EQ(emit(1, "x"), WriteResult::kDiscarded);
  EXPECT_EQ(emit(1, ""), WriteResult::kWritten);
  EXPECT_EQ(words().discarded, 2u);
}

TEST_P(RingTest, DiscardedEventsAreCountedByTheConsumersTurn) {
  consumed_.assign(2 * kCpus, kOddTurn);
  while (tail() < geometry_.size()) ASSERT_EQ(emit_numbered(1024), WriteResult::kWritten);
  EXPECT_EQ(emit(1, ""), WriteResult::kDiscarded);
  EXPECT_EQ(emit(1, ""), WriteResult::kDiscarded);
  consumed_[ring_index()] = 16 | kOddTurn;
  EXPECT_EQ(emit(1, "x"), WriteResult::kDiscarded);
  EXPECT_EQ(emit(1, ""), WriteResult::kWritten);
  consumed_[ring_index()] = 24;
  EXPECT_EQ(emit(1, ""), WriteResult::kDiscarded);
  EXPECT_EQ(words().discarded_odd, 3u);
  EXPECT_EQ(words().discarded, 1u);
}

// The consumer has made room since the ring was found full: the record is written, as those behind it would be.
TEST_P(RingTest, WhatFindsRoomAfterAllIsWritten) {
  if (!GetParam()) GTEST_SKIP() << "SKIPPED: only for the ring of a CPU";
  consumed_.assign(2 * kCpus, 0);
  while (tail() < geometry_.size()) ASSERT_EQ(emit_numbered(1024), WriteResult::kWritten);
  const std::uint64_t before = words().commit.count;
  const auto write_after_full = [&] {
    arch::WriteRequest request;
    describe(request, {42, 1, 0, nullptr, 0});
    aim(request, rings(), cpu_);
    return write_after(arch::WriteOutcome::kFull, request, rings(), {arch::rseq_area(), clock_}, 42);
  };
  EXPECT_EQ(write_after_full(), WriteResult::kDiscarded);
  consumed_[ring_index()] = 16 | kOddTurn;
  EXPECT_EQ(write_after_full(), WriteResult::kWritten);
  EXPECT_EQ(write_after_full(), WriteResult::kDiscarded);
  EXPECT_EQ(words().commit.count, before + 1);
  EXPECT_EQ(words().discarded, 1u);
  EXPECT_EQ(words().discarded_odd, 1u);
}

TEST_P(RingTest, NothingIsCountedWhereTheGuardHasChanged) {
  if (!GetParam()) GTEST_SKIP() << "SKIPPED: only for the ring of a CPU";
  std::uint64_t guard = 7, number = 0;
  arch::RseqArea* const area = arch::rseq_area();
  const auto is_counted = [&](std::uint64_t value, std::uint32_t cpu) {
    for (int tries = 0; tries < 1000; ++tries) {
      if (arch::add_one_rseq_if(&guard, value, &number, area, cpu) == arch::WriteOutcome::kCommitted) return true;
    }
    return false;
  };
  EXPECT_TRUE(is_counted(7, cpu_));
  EXPECT_FALSE(is_counted(8, cpu_));
  EXPECT_FALSE(is_counted(7, cpu_ + 1));
  EXPECT_EQ(number, 1u);
  EXPECT_EQ(area->rseq_cs, 0u);
}

// The filler is committed although the record behind it finds no room: nothing but the record may be counted.
TEST_P(RingTest, RecordThatWrapsIntoAFullRingIsDiscardedOnce) {
  consumed_.assign(2 * kCpus, 0);
  Reader reader(ring(), geometry_);
  ASSERT_NO_FATAL_FAILURE(fill_lap_but(64));
  consumed_[ring_index()] = 104 - 64;  // room for the record, but not for the filler as well
  EXPECT_EQ(emit_numbered(104), WriteResult::kDiscarded);
  EXPECT_EQ(tail(), geometry_.size());
  EXPECT_EQ(reader.discarded().all(), 1u);
  std::uint64_t read = 0;
  while (const std::size_t n = reader.read().records.size()) read += n;
  EXPECT_EQ(read, emitted_ - 1);
  EXPECT_EQ(reader.position(), tail());
  consumed_[ring_index()] = reader.position();
  EXPECT_EQ(emit_numbered(104), WriteResult::kWritten);
  EXPECT_EQ(reader.read().records.size(), 1u);
  EXPECT_EQ(reader.lost() + reader.corrupt(), 0u);
}

TEST_P(RingTest, LateReaderStartsAtTheOldestIntactChunk) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 1000; ++round) {
    const std::uint64_t stop = tail() + random() % geometry_.size();
    while (tail() < stop) emit_numbered(record_length(8 + random() % 500));
    Reader reader(ring(), geometry_);
    const std::uint64_t start = reader.position();
    const std::uint64_t lost_at_once = reader.lost();
    std::uint64_t read = 0;
    for (const Reader::Batch* batch = &reader.read(); !batch->records.empty(); batch = &reader.read()) {
      EXPECT_EQ(batch->lost_before, 0u);
      for (const RecordView& record : batch->records) ASSERT_EQ(number_of(record), lost_at_once + read++);
    }
    ASSERT_EQ(lost_at_once + read, emitted_);
    ASSERT_EQ(reader.lost(), lost_at_once);
    ASSERT_EQ(reader.corrupt(), 0u);
    // It gives up no more than the chunk that is being overwritten, and the record that reaches into the next.
    const std::uint64_t oldest = tail() > geometry_.size() ? tail() - geometry_.size() : 0;
    ASSERT_LE(start, oldest == 0 ? 0 : oldest + (1u << geometry_.chunk_shift()) + 600);
  }
}

TEST_P(RingTest, MarkOfAChunkIsTheFirstRecordThatBeginsInIt) {
  std::mt19937_64 random(11);
  std::map<std::uint64_t, std::uint64_t> first_of_chunk;  // chunk -> position
  std::map<std::uint64_t, std::uint64_t> count_at;        // position -> records before it
  const std::uint32_t shift = geometry_.chunk_shift();
  const auto* marks = reinterpret_cast<const Mark*>(ring() + Geometry::marks_offset());
  while (tail() < geometry_.size() * 5) {
    const std::uint64_t before = tail();
    emit_numbered(record_length(8 + random() % (random() % 10 == 0 ? 30000 : 100)));
    const auto note = [&](std::uint64_t position, std::uint64_t count) {
      first_of_chunk.try_emplace(position >> shift, position);
      count_at[position] = count;
    };
    const std::uint64_t lap = tail() & ~(geometry_.size() - 1);
    if (before < lap) note(lap, emitted_ - 1);
    note(tail(), emitted_);
    const std::uint64_t last = tail() >> shift;
    for (std::uint64_t chunk = last < geometry_.chunks() ? 1 : last - geometry_.chunks() + 1; chunk <= last; ++chunk) {
      const Mark mark = marks[chunk & (geometry_.chunks() - 1)];
      const auto known = first_of_chunk.find(chunk);
      if (known == first_of_chunk.end()) {  // a record that began before it covers it
        ASSERT_NE(mark.position >> shift, chunk);
      } else {
        ASSERT_EQ(mark.position, known->second);
        ASSERT_EQ(mark.count, count_at[mark.position]);
      }
    }
  }
}

TEST_P(RingTest, NothingIsStoredBetweenTheMarksAndTheDataOrInOtherRings) {
  const std::uint64_t marks_end = Geometry::marks_offset() + geometry_.chunks() * sizeof(Mark);
  std::mt19937_64 random(13);
  while (tail() < geometry_.size() * 4) emit_numbered(record_length(8 + random() % 5000));
  for (std::uint64_t at = sizeof(RingWords); at < Geometry::marks_offset(); ++at) ASSERT_EQ(ring()[at], std::byte{0});
  for (std::uint64_t at = marks_end; at < geometry_.data_offset(); ++at) ASSERT_EQ(ring()[at], std::byte{0});
  for (std::uint32_t i = 0; i < 2 * kCpus; ++i) {
    if (i == ring_index()) continue;
    EXPECT_EQ(Reader(memory_.data() + i * geometry_.stride(), geometry_).written(), 0u);
  }
}

TEST_P(RingTest, ClaimsAreGivenBackAndTakenOnesLeftAlone) {
  if (GetParam()) GTEST_SKIP() << "SKIPPED: only for claimed rings";
  ASSERT_EQ(emit(1, "x"), WriteResult::kWritten);
  EXPECT_EQ(words().claim, 0u);
  words().claim = 4711;  // another thread is at work there
  ASSERT_EQ(emit(1, "x"), WriteResult::kWritten);
  EXPECT_EQ(words().commit.count, 1u);
  EXPECT_EQ(words().claim, 4711u);
  for (std::uint32_t i = kCpus; i < 2 * kCpus; ++i) {
    reinterpret_cast<RingWords*>(memory_.data() + i * geometry_.stride())->claim = 4711;
  }
  EXPECT_EQ(emit(1, "x"), WriteResult::kDiscarded);
  EXPECT_EQ(words().discarded, 1u);
}

// Which of the claimed rings of 4 CPUs a record is in that belongs to a CPU; `taken` are held by somebody else.
class RingForCpuTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kCpus = 4, kClaimed = 8;

  RingForCpuTest() {
    const std::size_t bytes = geometry_.stride() * (kCpus + kClaimed);
    fd_ = *create_memfd("ring_for_cpu_test", bytes);
    memory_ = *Mapping::map(fd_.get(), bytes, Mapping::Access::kReadWrite);
  }
  RingWords& words(std::uint32_t index) {
    return *reinterpret_cast<RingWords*>(memory_.data() + index * geometry_.stride());
  }
  std::uint32_t ring_of_record_for(std::uint32_t cpu, std::vector<std::uint32_t> taken = {}) {
    for (std::uint32_t i = 0; i < kCpus + kClaimed; ++i) words(i) = {};
    for (const std::uint32_t index : taken) words(index).claim = 4711;
    const Segment segment{"x", 1};
    const RingSet rings{memory_.data(), consumed_.data(), geometry_, kCpus, kClaimed};
    EXPECT_EQ(write(rings, {nullptr, arch::best_raw_clock(), cpu}, {42, 1, 1, &segment, 1}), WriteResult::kWritten);
    for (std::uint32_t i = 0; i < kCpus + kClaimed; ++i) {
      if (words(i).commit.count == 1) return i;
    }
    return ~0u;
  }

  Geometry geometry_{kMinSizeLog2};
  Fd fd_;
  Mapping memory_;
  std::vector<std::uint64_t> consumed_ = std::vector<std::uint64_t>(kCpus + kClaimed, kNeverFull);
};

TEST_F(RingForCpuTest, WhatIsWrittenForAnotherCpuIsInARingOfThatOne) {
  for (std::uint32_t cpu = 0; cpu < kCpus; ++cpu) {
    EXPECT_EQ(cpu_of_ring(cpu, kCpus), cpu);
    EXPECT_EQ(ring_of_record_for(cpu), kCpus + cpu);
    EXPECT_EQ(cpu_of_ring(kCpus + cpu, kCpus), cpu);
  }
}

TEST_F(RingForCpuTest, AsLongAsOneOfThatCpuIsFree) {
  const std::uint32_t index = ring_of_record_for(3, {kCpus + 3});
  EXPECT_EQ(index, kCpus + kCpus + 3);
  EXPECT_EQ(cpu_of_ring(index, kCpus), 3u);
  EXPECT_EQ(cpu_of_ring(ring_of_record_for(3, {kCpus + 3, kCpus + kCpus + 3}), kCpus), 0u) << "better than nowhere";
}

TEST_F(RingForCpuTest, ACpuThatWasAddedSharesTheRingsOfAnother) {
  EXPECT_EQ(cpu_of_ring(ring_of_record_for(kCpus + 1), kCpus), 1u);
}

}  // namespace
}  // namespace landtrace::ring
