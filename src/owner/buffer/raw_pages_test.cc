// Pages are read back by the reader of trace files.
#include "buffer/raw_pages.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "buffer/test_domain.hpp"
#include "output/trace_dat/cpu_cursor.hpp"

namespace landtrace::buffer {
namespace {

namespace trace_dat = output::trace_dat;

constexpr std::size_t kPage = 4096;

class RawPagesTest : public ::testing::Test {
 protected:
  RawPagesTest() {
    for (std::uint32_t cpu = 0; cpu < domain_->instances().first_claimed(); ++cpu) readers_.emplace_back(cpu, kPage);
    ::sched_getaffinity(0, sizeof affinity_, &affinity_);
  }
  ~RawPagesTest() override { ::sched_setaffinity(0, sizeof affinity_, &affinity_); }

  // This thread writes on CPU 0 alone from here on, if it may.
  void stay_on_one_cpu() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  // Takes all pages of all CPUs there are now.
  std::size_t take() {
    std::size_t taken = 0;
    for (std::uint32_t cpu = 0; cpu < readers_.size(); ++cpu) {
      std::vector<std::byte> page(readers_[cpu].page_bytes());
      for (; readers_[cpu].take(*contents_, printer_, page); ++taken) {
        pages_[cpu].insert(pages_[cpu].end(), page.begin(), page.end());
      }
    }
    return taken;
  }
  // What the pages so far say.
  Seen parsed() {
    Seen seen;
    for (const auto& [cpu, pages] : pages_) {
      const std::string path = testing::TempDir() + "raw_pages_" + std::to_string(::getpid());
      std::ofstream(path, std::ios::binary)
          .write(reinterpret_cast<const char*>(pages.data()), static_cast<std::streamsize>(pages.size()));
      const auto file = trace_dat::InputFile::open(path);
      trace_dat::PagePool pool(static_cast<std::uint32_t>(readers_[cpu].page_bytes()));
      trace_dat::CpuCursor cursor(*file, {cpu, 0, pages.size()}, pool);
      parse(cursor, seen);
      ::unlink(path.c_str());
    }
    if (in_order_) {
      EXPECT_EQ(steps_back_, 0u);
    }
    return seen;
  }
  void parse(trace_dat::CpuCursor& cursor, Seen& seen) {
    std::uint64_t last = 0;
    for (;;) {
      const auto more = cursor.advance();
      ASSERT_TRUE(more) << more.error().message;
      if (!*more) return;
      const output::Record& record = cursor.record();
      EXPECT_EQ(record.event_id, 16384);
      if (record.time_ns < last) ++steps_back_;
      last = record.time_ns;
      lost_ += cursor.lost();
      std::uint32_t number = 0;
      std::memcpy(&number, record.payload.data(), sizeof number);
      if (in_order_) {
        seen.take(static_cast<std::uint32_t>(record.tid), number);
      } else {
        ++events_;
      }
    }
  }

  TestDomain domain_;
  std::shared_ptr<Contents> contents_ = domain_.contents();
  TraceClock clock_{domain_->clock_line()};
  Printer printer_{domain_->control(), domain_->users(), domain_->events(), clock_};
  std::deque<RawPages> readers_;
  std::map<std::uint32_t, std::vector<std::byte>> pages_;
  std::uint64_t lost_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t steps_back_ = 0;  // of the time, within a CPU
  bool in_order_ = true;
  cpu_set_t affinity_{};
};

TEST_F(RawPagesTest, NothingThere) { EXPECT_EQ(take(), 0u); }

TEST_F(RawPagesTest, PagesHoldTheEventsAndConsumeThem) {
  stay_on_one_cpu();
  domain_.write_many(kTid, 0, 1000);
  EXPECT_GT(take(), 1u);
  EXPECT_EQ(take(), 0u);
  domain_.write_many(kTid, 1000, 1003);
  EXPECT_EQ(take(), 1u);
  const Seen seen = parsed();
  EXPECT_EQ(seen.events(), 1003u);
  EXPECT_EQ(seen.skipped(), 0u);
  EXPECT_EQ(contents_->counts(kAllCpus).entries, 0u);
  EXPECT_EQ(contents_->counts(kAllCpus).read, 1003u);
}

TEST_F(RawPagesTest, TimesAreThoseOfTheClock) {
  const std::uint64_t before = arch::monotonic_ns();
  domain_.write_many(kTid, 0, 1);
  const std::uint64_t after = arch::monotonic_ns();
  take();
  std::uint64_t time = 0;
  for (const auto& [cpu, pages] : pages_) {
    if (!pages.empty()) std::memcpy(&time, pages.data(), sizeof time);
  }
  constexpr std::uint64_t kTolerance = 20'000;
  EXPECT_GE(time + kTolerance, before);
  EXPECT_LE(time, after + kTolerance);
}

TEST_F(RawPagesTest, OverwrittenEventsAreCountedOnTheNextPage) {
  stay_on_one_cpu();
  domain_.write_many(kTid, 0, 100'000, 24);
  take();
  domain_.write_many(kTid, 100'000, 200'000, 24);
  take();
  const Seen seen = parsed();
  EXPECT_GT(lost_, 0u);
  EXPECT_EQ(seen.events() + lost_, 200'000u);
  EXPECT_EQ(seen.skipped(), lost_);
}

TEST_F(RawPagesTest, EventThatNoPageHoldsIsCountedAsMissing) {
  stay_on_one_cpu();
  domain_.write_many(kTid, 0, 5);
  domain_.write_many(kTid, 5, 7, 8000);
  domain_.write_many(kTid, 7, 10);
  take();
  const Seen seen = parsed();
  EXPECT_EQ(seen.events(), 8u);
  EXPECT_EQ(seen.skipped(), 2u);
  EXPECT_EQ(lost_, 2u);
}

TEST_F(RawPagesTest, LargerSubBuffersHoldTheLargestEvents) {
  stay_on_one_cpu();
  readers_.clear();
  for (std::uint32_t cpu = 0; cpu < domain_->instances().first_claimed(); ++cpu) {
    readers_.emplace_back(cpu, kPage << kMaxSubBufferOrder);
  }
  domain_.write_many(kTid, 0, 3, 64 * 1024 - 8);
  EXPECT_GE(take(), 1u);
  const Seen seen = parsed();
  EXPECT_EQ(seen.events(), 3u);
  EXPECT_EQ(lost_, 0u);
}

TEST_F(RawPagesTest, WritersAndReaderAtOnceAccountForEverything) {
  in_order_ = false;  // a thread's events are spread over CPUs, whose pages are read one after the other
  BusyWriters writers(domain_, 2);
  for (int i = 0; i < 50; ++i) {
    writers.wait_for(5000);
    take();
  }
  writers.stop();
  take();
  parsed();
  EXPECT_EQ(events_ + lost_, writers.written());
  if (!writers.has_been_away()) {
    EXPECT_EQ(steps_back_, 0u);
  }
}

TEST_F(RawPagesTest, ARecordThatIsTheFirstOfItsRingIsWaitedFor) {
  stay_on_one_cpu();
  const auto cpu = static_cast<std::uint32_t>(::sched_getcpu());
  domain_.write_many(kTid, 0, 1);  // the user has rings from here on
  take();
  ring::RingWords& first = domain_.ring_words(cpu);
  ASSERT_EQ(first.commit.count, 0u) << "who writes for others takes the CPU's other rings";
  first.claim = 4711;
  const std::uint64_t begun = domain_.raw_clock();
  domain_.write_many(kTid, 1, 2);
  const std::size_t taken = take();
  if (domain_.raw_clock() - begun < RingCursor::kPatience) {
    EXPECT_EQ(taken, 0u);
  }
  first.claim = 0;
  take();
  EXPECT_EQ(parsed().events(), 2u);
}

}  // namespace
}  // namespace landtrace::buffer
