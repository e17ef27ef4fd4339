// Records at a time that was read before: they get it where the thread was not interrupted since, and nothing else.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "arch/write.hpp"
#include "base/mapping.hpp"
#include "ring/reader.hpp"
#include "ring/test_write.hpp"

namespace landtrace::ring {
namespace {

using arch::WriteOutcome;

class HeldWriteTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!arch::rseq_usable()) GTEST_SKIP() << "SKIPPED: no restartable sequences here";
    area_ = arch::rseq_area();
    cpu_ = static_cast<std::uint32_t>(::sched_getcpu());
    ASSERT_EQ(::sched_getaffinity(0, sizeof affinity_, &affinity_), 0);
    stay_here();
    const std::size_t bytes = geometry_.stride() * (cpu_ + 2);
    fd_ = *create_memfd("held_write_test", bytes);
    memory_ = *Mapping::map(fd_.get(), bytes, Mapping::Access::kReadWrite);
    consumed_.assign(cpu_ + 2, kNeverFull);
  }
  void TearDown() override {
    if (area_ != nullptr) ::sched_setaffinity(0, sizeof affinity_, &affinity_);
  }

  void stay_here() const {
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(cpu_, &here);
    ASSERT_EQ(::sched_setaffinity(0, sizeof here, &here), 0);
  }
  [[nodiscard]] RingSet rings() const { return {memory_.data(), consumed_.data(), geometry_, cpu_ + 1, 1}; }
  [[nodiscard]] WriteMode mode() const { return {area_, arch::RawClock::kTsc}; }

  // Holds, lets something happen, and writes: what came of that. A test is preempted now and then, so it is tried more
  // than once: false where it never was `wanted`.
  template <typename Between>
  bool writes(WriteOutcome wanted, const Between& between) {
    for (int tries = 0; tries < 1000; ++tries) {
      arch::WriteRequest request;
      describe(request, {42, 1, 0, nullptr, 0});
      arch::hold_time(area_);
      between();
      const WriteOutcome outcome = write_at_once(request, rings(), mode(), HeldTime{kHeld + ++held_});
      arch::let_time_go(area_);
      if (outcome == wanted) return true;
      if (wanted != WriteOutcome::kCommitted) return false;
    }
    return false;
  }
  bool comes_to_nothing(const auto& between) { return writes(WriteOutcome::kRestarted, between); }
  std::vector<std::uint64_t> times() {
    std::vector<std::uint64_t> all;
    Reader reader(memory_.data() + cpu_ * geometry_.stride(), geometry_);
    for (const Reader::Batch* batch = &reader.read(); !batch->records.empty(); batch = &reader.read()) {
      for (const RecordView& record : batch->records) all.push_back(record.header.clock);
    }
    return all;
  }

  // No counter says so.
  static constexpr std::uint64_t kHeld = 1000;

  arch::RseqArea* area_ = nullptr;
  std::uint32_t cpu_ = 0;
  cpu_set_t affinity_{};
  Geometry geometry_{kMinSizeLog2};
  Fd fd_;
  Mapping memory_;
  std::vector<std::uint64_t> consumed_;
  std::uint64_t held_ = 0;
};

TEST_F(HeldWriteTest, HasTheTimeThatWasHeld) {
  ASSERT_TRUE(writes(WriteOutcome::kCommitted, [] {}));
  EXPECT_EQ(times(), std::vector{kHeld + held_});
}

TEST_F(HeldWriteTest, ComesToNothingBehindASignal) {
  struct sigaction before {};
  struct sigaction nothing {};
  nothing.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGUSR1, &nothing, &before), 0);
  EXPECT_TRUE(comes_to_nothing([] { ::raise(SIGUSR1); }));
  ::sigaction(SIGUSR1, &before, nullptr);
  EXPECT_TRUE(times().empty());
}

TEST_F(HeldWriteTest, ComesToNothingWhereAnotherThreadHasRunOnTheCpu) {
  std::atomic<std::uint64_t> turns = 0;
  std::atomic<bool> is_over = false;
  std::thread other([&] {
    stay_here();
    while (!is_over) ++turns;
  });
  const bool is_nothing = comes_to_nothing([&] {
    for (const std::uint64_t before = turns; turns == before;) {
    }
  });
  is_over = true;
  other.join();
  EXPECT_TRUE(is_nothing);
  EXPECT_TRUE(times().empty());
}

TEST_F(HeldWriteTest, ComesToNothingBehindAnotherWrite) {
  EXPECT_TRUE(comes_to_nothing([&] { write(rings(), mode(), {42, 1, 0, nullptr, 0}); }));
  EXPECT_EQ(times().size(), 1u);
}

TEST_F(HeldWriteTest, ComesToNothingBehindAnotherSequence) {
  std::uint64_t number = 0;
  EXPECT_TRUE(comes_to_nothing([&] { arch::add_one_rseq(&number, area_, cpu_); }));
  EXPECT_TRUE(times().empty());
}

TEST_F(HeldWriteTest, ComesToNothingWhereTheTimeWasLetGo) {
  EXPECT_TRUE(comes_to_nothing([&] { arch::let_time_go(area_); }));
  EXPECT_TRUE(times().empty());
}

TEST_F(HeldWriteTest, HoldsForOneWrite) {
  EXPECT_TRUE(comes_to_nothing([&] {
    arch::WriteRequest request;
    describe(request, {42, 1, 0, nullptr, 0});
    write_at_once(request, rings(), mode(), HeldTime{kHeld});
  }));
  EXPECT_LE(times().size(), 1u);
}

}  // namespace
}  // namespace landtrace::ring
