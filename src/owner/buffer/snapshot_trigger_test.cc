// Snapshots that triggers take, in the middle of writing threads.
#include <gtest/gtest.h>

#include "buffer/test_domain.hpp"
#include "rules/triggers.hpp"

namespace landtrace::buffer {
namespace {

constexpr unsigned kThreads = 8;
constexpr std::uint32_t kNumbers = 40'000;

// How often each number of each thread stands in there.
class Counted {
 public:
  void add(const std::shared_ptr<Contents>& contents) {
    Reading reading(contents, kAllCpus);
    while (const Merge::Source* const source = reading.merge.next()) {
      EXPECT_EQ(source->cursor->take_lost(), 0u);
      const ring::RecordView& record = source->cursor->record();
      std::uint32_t number = 0;
      std::memcpy(&number, record.payload.data(), sizeof number);
      auto& counts = by_thread_[record.header.tid];
      counts.resize(kNumbers);
      ++counts.at(number);
      source->cursor->pop();
    }
  }
  [[nodiscard]] const std::map<std::uint32_t, std::vector<unsigned>>& by_thread() const { return by_thread_; }

 private:
  std::map<std::uint32_t, std::vector<unsigned>> by_thread_;
};

TEST(SnapshotTriggerTest, EachEventOfEightThreadsStandsInOneOfTheTwoBuffers) {
  TestDomain domain(64u << 20);
  Buffer buffer(*domain, 0);
  // Every thread takes four.
  ASSERT_TRUE(domain.rules().triggers().apply(
      domain->top(), domain.event(),
      "snapshot if number == 5000 || number == 12345 || number == 30000 || number == 39999"));
  std::vector<std::thread> threads;
  for (std::uint32_t i = 1; i <= kThreads; ++i) {
    threads.emplace_back([&domain, i] { domain.write_many(i, 0, kNumbers); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(domain->cells().count_of(domain->top().flip->counter), 4 * kThreads);
  Counted counted;
  counted.add(buffer.main());
  counted.add(buffer.snapshot());
  ASSERT_EQ(counted.by_thread().size(), kThreads);
  for (const auto& [thread, counts] : counted.by_thread()) {
    for (std::uint32_t number = 0; number < kNumbers; ++number) {
      ASSERT_EQ(counts[number], 1u) << "number " << number << " of thread " << thread;
    }
  }
}

TEST(SnapshotTriggerTest, OneThatIsTakenOnceHoldsWhatCameBeforeIt) {
  TestDomain domain(64u << 20);
  Buffer buffer(*domain, 0);
  ASSERT_TRUE(domain.rules().triggers().apply(domain->top(), domain.event(), "snapshot:1 if number == 20000"));
  std::vector<std::thread> threads;
  for (std::uint32_t i = 1; i <= kThreads; ++i) {
    threads.emplace_back([&domain, i] { domain.write_many(i, 0, kNumbers); });
  }
  for (std::thread& thread : threads) thread.join();
  Counted before, after;
  before.add(buffer.snapshot());
  after.add(buffer.main());
  unsigned takers = 0;
  for (const auto& [thread, counts] : before.by_thread()) {
    const auto first_left_out = std::find(counts.begin(), counts.end(), 0u) - counts.begin();
    takers += first_left_out == 20001 ? 1 : 0;
    const auto& rest = after.by_thread().at(thread);
    for (std::uint32_t number = 0; number < kNumbers; ++number) {
      ASSERT_EQ(counts[number], number < first_left_out ? 1u : 0u) << number << " of thread " << thread;
      ASSERT_EQ(rest[number], number < first_left_out ? 0u : 1u) << number << " of thread " << thread;
    }
  }
  EXPECT_GE(takers, 1u);  // the event that took it is the last of its thread there
}

std::vector<std::uint32_t> numbers_in(const std::shared_ptr<Contents>& contents) {
  std::vector<std::uint32_t> numbers;
  Reading reading(contents, kAllCpus);
  while (const Merge::Source* const source = reading.merge.next()) {
    numbers.emplace_back();
    std::memcpy(&numbers.back(), source->cursor->record().payload.data(), sizeof numbers.back());
    source->cursor->pop();
  }
  return numbers;
}

TEST(SnapshotTriggerTest, ItsTriggerGoesOnWhenTheBufferHasAnotherSize) {
  TestDomain domain;
  Buffer buffer(*domain, 0);
  ASSERT_TRUE(domain.rules().triggers().apply(domain->top(), domain.event(), "snapshot if number == 1 || number == 5"));
  domain.write_many(7, 0, 3);
  ASSERT_TRUE(buffer.resize(kAllCpus, 2 << 20));
  EXPECT_EQ(numbers_in(buffer.snapshot()), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(numbers_in(buffer.main()), (std::vector<std::uint32_t>{2}));
  domain.write_many(7, 3, 7);
  EXPECT_EQ(numbers_in(buffer.snapshot()), (std::vector<std::uint32_t>{2, 3, 4, 5}));
  EXPECT_EQ(numbers_in(buffer.main()), (std::vector<std::uint32_t>{0, 1, 6}));
  EXPECT_EQ(domain->cells().count_of(domain->top().flip->counter), 2u);
  ASSERT_TRUE(domain.rules().triggers().apply(domain->top(), domain.event(), "!snapshot"));
  domain.write_many(7, 7, 8);
  EXPECT_EQ(numbers_in(buffer.main()), (std::vector<std::uint32_t>{0, 1, 6, 7}));
}

}  // namespace
}  // namespace landtrace::buffer
