// Another producer of the same user scribbles over the ring while we write and read it: the writer stores nothing
// outside the ring's own marks, words and data, the reader survives, and both come to an end.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <random>
#include <thread>

#include "ring/reader.hpp"
#include "ring/test_write.hpp"

#if defined(__aarch64__)
#define LT_PAUSE "yield"
#else
#define LT_PAUSE "pause"
#endif

namespace landtrace::ring {
namespace {

class RingHostileTest : public testing::TestWithParam<bool> {
 protected:
  // Two rings (the CPU's, the claimed one) between pages that nobody may touch.
  void SetUp() override {
    if (GetParam() && !arch::rseq_usable()) GTEST_SKIP() << "SKIPPED: no restartable sequences here";
    const std::size_t bytes = 2 * geometry_.stride();
    fence_ = static_cast<std::byte*>(
        ::mmap(nullptr, bytes + 2 * kFence, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    ASSERT_NE(fence_, MAP_FAILED);
    ASSERT_EQ(::mprotect(fence_ + kFence, bytes, PROT_READ | PROT_WRITE), 0);
    CPU_ZERO(&affinity_);
    ASSERT_EQ(sched_getaffinity(0, sizeof affinity_, &affinity_), 0);
    victim_ = fence_ + kFence + (GetParam() ? 0 : geometry_.stride());
    bystander_ = fence_ + kFence + (GetParam() ? geometry_.stride() : 0);
    for (std::size_t at = sizeof(RingWords); at < geometry_.stride(); ++at) bystander_[at] = kCanary;
    for_each_gap([](std::byte& byte) { byte = kCanary; });
  }
  void TearDown() override {
    if (fence_ != nullptr) ::munmap(fence_, 2 * geometry_.stride() + 2 * kFence);
  }

  // The bytes of the ring that belong to nobody.
  template <typename F>
  void for_each_gap(F f) {
    for (std::size_t at = sizeof(RingWords); at < Geometry::marks_offset(); ++at) f(victim_[at]);
    const std::size_t marks_end = Geometry::marks_offset() + geometry_.chunks() * sizeof(Mark);
    for (std::size_t at = marks_end; at < geometry_.data_offset(); ++at) f(victim_[at]);
  }

  // A word that index arithmetic might stumble over.
  std::uint64_t nasty(std::mt19937_64& random) const {
    const std::uint64_t size = geometry_.size();
    const std::uint64_t bases[] = {
        0,        size,        1ull << 62,  1ull << 63,          ~0ull, random() % (4 * size), random(),
        size * 8, ~0ull << 18, ~0ull << 12, (1ull << 62) + size, 65552};
    return bases[random() % std::size(bases)] + (random() % 2 == 0 ? 0 : random() % 257 - 128);
  }
  void scribble(std::mt19937_64& random) {
    auto* words = reinterpret_cast<std::uint64_t*>(victim_);
    auto* marks = reinterpret_cast<std::uint64_t*>(victim_ + Geometry::marks_offset());
    auto* data = reinterpret_cast<std::uint64_t*>(victim_ + geometry_.data_offset());
    const std::uint64_t value = nasty(random);
    switch (random() % 6) {
      case 0:
        return __atomic_store_n(&words[random() % 3], value, __ATOMIC_RELAXED);  // tail, count, intent
      case 1:
        return __atomic_store_n(&words[0], value, __ATOMIC_RELAXED);
      case 2:
        return __atomic_store_n(&marks[random() % (geometry_.chunks() * 2)], value, __ATOMIC_RELAXED);
      case 3:  // something sane, so that the writer and the reader get somewhere
        __atomic_store_n(&words[0], random() % (geometry_.size() * 3) & ~7ull, __ATOMIC_RELAXED);
        return __atomic_store_n(&words[2], words[0], __ATOMIC_RELAXED);
      default:
        return __atomic_store_n(&data[random() % (geometry_.size() / 8)], value, __ATOMIC_RELAXED);
    }
  }

  static constexpr std::byte kCanary{0xc5};
  static constexpr std::size_t kFence = 1 << 20;
  Geometry geometry_;
  cpu_set_t affinity_;
  std::byte* fence_ = nullptr;
  std::byte* victim_ = nullptr;
  std::byte* bystander_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Modes, RingHostileTest, testing::Bool(),
                         [](const auto& mode) { return mode.param ? "Restartable" : "Claimed"; });

TEST_P(RingHostileTest, ScribblingDoesNoHarmOutsideTheRing) {
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> writes = 0;
  std::thread scribbler([&] {
    std::mt19937_64 random(1);
    while (!stop) {
      for (std::uint64_t i = random() % 16; i > 0; --i) scribble(random);
      for (std::uint64_t i = random() % 4096; i > 0; --i) asm volatile(LT_PAUSE);
    }
  });
  std::thread writer([&] {
    // The set has one CPU, the one we are on; its number has to be 0 for the restartable write.
    cpu_set_t cpu0;
    CPU_ZERO(&cpu0);
    CPU_SET(0, &cpu0);
    if (sched_setaffinity(0, sizeof cpu0, &cpu0) != 0) return;
    std::mt19937_64 random(2);
    const std::vector<std::byte> payload(kMaxPayload, std::byte{0x77});
    const WriteMode mode{GetParam() ? arch::rseq_area() : nullptr, arch::best_raw_clock()};
    while (!stop) {
      const std::uint64_t consumed[2] = {random() % 4 == 0 ? nasty(random) : kNeverFull, kNeverFull};
      const RingSet rings{fence_ + kFence, consumed, geometry_, 1, 1};
      const std::uint64_t size = random() % 8 == 0 ? random() % (kMaxPayload + 1) : random() % 200;
      const Segment segment{payload.data(), size};
      write(rings, mode, {42, 1, static_cast<std::uint32_t>(size), &segment, 1});
      writes.fetch_add(1, std::memory_order_relaxed);
    }
  });
  std::uint64_t batches = 0, records = 0, corrupt = 0, sum = 0;
  const std::uint64_t begin = arch::monotonic_ns();
  constexpr std::uint64_t kShortest_ns = 1'500'000'000, kLongest_ns = 120'000'000'000;
  // Beside other programs the three of them may take turns, and what one leaves behind may be all that another sees.
  const auto is_enough = [&](std::uint64_t passed_ns) {
    return passed_ns > kLongest_ns || (passed_ns > kShortest_ns && writes > 1000 && records > 1000 && corrupt > 0);
  };
  while (!is_enough(arch::monotonic_ns() - begin)) {
    Reader reader(victim_, geometry_);
    for (int i = 0; i < 50; ++i) {
      const auto& batch = reader.read();
      ++batches;
      records += batch.records.size();
      for (const RecordView& record : batch.records) {
        ASSERT_LE(record.payload.size(), kMaxPayload);
        for (const std::byte byte : record.payload) sum += static_cast<std::uint64_t>(byte);
      }
    }
    corrupt += reader.corrupt();
  }
  stop = true;
  scribbler.join();
  writer.join();
  EXPECT_GT(writes, 1000u);
  EXPECT_GT(records, 1000u);
  EXPECT_GT(corrupt, 0u);
  std::printf("%lu writes, %lu batches, %lu records (%lx), %lu corrupt\n", writes.load(), batches, records, sum,
              corrupt);
  for_each_gap([](std::byte& byte) { ASSERT_EQ(byte, kCanary); });
  if (!GetParam()) {  // a restartable writer that is disturbed too often turns to the claimed ring
    EXPECT_EQ(Reader(bystander_, geometry_).written(), 0u);
  }
  if (Reader(bystander_, geometry_).written() == 0) {
    for (std::size_t at = sizeof(RingWords); at < geometry_.stride(); ++at) ASSERT_EQ(bystander_[at], kCanary);
  }
}

// Whatever stands in the words, a write ends: it is kept, or counted as discarded.
TEST_P(RingHostileTest, EveryWriteOverEveryTailEnds) {
  std::mt19937_64 random(3);
  cpu_set_t cpu0;
  CPU_ZERO(&cpu0);
  CPU_SET(0, &cpu0);
  ASSERT_EQ(sched_setaffinity(0, sizeof cpu0, &cpu0), 0);
  const std::vector<std::byte> payload(kMaxPayload, std::byte{0x77});
  const WriteMode mode{GetParam() ? arch::rseq_area() : nullptr, arch::best_raw_clock()};
  for (int round = 0; round < 200'000; ++round) {
    auto* words = reinterpret_cast<std::uint64_t*>(victim_);
    words[0] = nasty(random);
    words[1] = nasty(random);
    words[2] = nasty(random);
    const std::uint64_t consumed[2] = {nasty(random), nasty(random)};
    const RingSet rings{fence_ + kFence, consumed, geometry_, 1, 1};
    const Segment segment{payload.data(), random() % 8 == 0 ? random() % (kMaxPayload + 1) : random() % 200};
    write(rings, mode, {42, 1, static_cast<std::uint32_t>(segment.size), &segment, 1});
    if (round % 8 == 0) {
      Reader reader(victim_, geometry_);
      for (int reads = 0; reads < 3; ++reads) reader.read();
    }
  }
  sched_setaffinity(0, sizeof affinity_, &affinity_);
  for_each_gap([](std::byte& byte) { ASSERT_EQ(byte, kCanary); });
}

// There the chunk after the last would be chunk 0; found by the fuzzer.
TEST_P(RingHostileTest, ReadingUpToTheLargestPositionEnds) {
  if (GetParam()) GTEST_SKIP() << "SKIPPED: the reader is the same";
  auto* words = reinterpret_cast<RingWords*>(victim_);
  auto* marks = reinterpret_cast<Mark*>(victim_ + Geometry::marks_offset());
  words->commit = {~7ull, 2048};
  const std::uint64_t start = ~0ull << geometry_.chunk_shift() << 2;
  marks[(start >> geometry_.chunk_shift()) % geometry_.chunks()] = {start, 1};
  Reader reader(victim_, geometry_);
  std::uint64_t read = 0;
  while (const std::size_t n = reader.read().records.size()) {
    read += n;
    ASSERT_LE(read, geometry_.size() / sizeof(RecordHeader));
  }
  EXPECT_EQ(reader.position(), words->commit.position);
}

TEST_P(RingHostileTest, GarbageIsCountedAndTheNextMarkServes) {
  if (GetParam()) GTEST_SKIP() << "SKIPPED: the reader is the same";
  const std::uint64_t consumed[2] = {kNeverFull, kNeverFull};
  const RingSet rings{fence_ + kFence, consumed, geometry_, 1, 1};
  const std::uint64_t payload[16] = {};
  const Segment segment{payload, sizeof payload};
  for (int i = 0; i < 1000; ++i) write(rings, {nullptr, arch::best_raw_clock()}, {42, 1, sizeof payload, &segment, 1});
  // The 100th record's length.
  std::memset(victim_ + geometry_.data_offset() + 100 * record_length(sizeof payload) + 14, 0xff, 2);
  Reader reader(victim_, geometry_);
  std::uint64_t read = 0;
  while (const std::size_t n = reader.read().records.size()) read += n;
  EXPECT_EQ(reader.corrupt(), 1u);
  EXPECT_EQ(read + reader.lost(), 1000u);
  EXPECT_GE(read, 900u);
}

}  // namespace
}  // namespace landtrace::ring
