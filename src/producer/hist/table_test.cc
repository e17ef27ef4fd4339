#include "hist/table.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <set>
#include <thread>

#include "hist/test_histogram.hpp"

namespace landtrace::hist {
namespace {

HistPlanDescription by_number(std::uint32_t elements, std::size_t keys = 1) {
  HistPlanDescription what;
  what.elements = elements;
  for (std::uint32_t i = 0; i < keys; ++i) what.keys.push_back(number({field(8 * i, 8)}));
  what.values.push_back(number({constant(2)}));
  return what;
}

const char* nobody() { return "nobody\0\0\0\0\0\0\0\0\0"; }

void hit(const TestHistogram& histogram, std::byte* element) {
  detail::add_to_word(element + histogram.shape().layout.hitcount_at(), 1);
}

TEST(HistTableTest, AKeyIsFoundWhereItWasInserted) {
  TestMemory memory;
  const TestHistogram histogram(memory, by_number(128));
  Table table(histogram.table_at(), histogram.shape().layout);
  const std::uint64_t one = 1;
  const std::uint64_t two = 2;
  EXPECT_EQ(table.find(&one), nullptr);
  std::byte* const element = table.find_or_insert(&one, nobody);
  ASSERT_NE(element, nullptr);
  EXPECT_EQ(table.find(&one), element);
  EXPECT_EQ(table.find_or_insert(&one, nobody), element);
  EXPECT_EQ(table.find(&two), nullptr);
  EXPECT_NE(table.find_or_insert(&two, nobody), element);
}

TEST(HistTableTest, ElementsOfDifferentKeysShareNoCacheLine) {
  TestMemory memory;
  const TestHistogram histogram(memory, by_number(128));
  Table table(histogram.table_at(), histogram.shape().layout);
  std::set<std::uintptr_t> lines;
  for (std::uint64_t key = 0; key < 128; ++key) {
    lines.insert(reinterpret_cast<std::uintptr_t>(table.find_or_insert(&key, nobody)) / 64);
  }
  EXPECT_EQ(lines.size(), 128u);
}

TEST(HistTableTest, AFullTableCountsWhatItDropsAndGoesOnCountingWhatItHas) {
  TestMemory memory;
  TestHistogram histogram(memory, by_number(128));
  for (std::uint64_t key = 0; key < 1000; ++key) histogram.happen(key);
  for (std::uint64_t key = 0; key < 1000; ++key) histogram.happen(key);
  const TableContents contents = histogram.contents();
  EXPECT_EQ(contents.rows.size(), 128u);
  EXPECT_EQ(contents.hits, 256u);
  EXPECT_EQ(contents.dropped, 2 * (1000u - 128u));
  for (const TableRow& row : contents.rows) EXPECT_EQ(row.sums[0], 4u);
}

TEST(HistTableTest, AMillionKeysFitIntoAMillionElements) {
  TestMemory memory(512 << 20);
  TestHistogram histogram(memory, by_number(kMaxElements));
  EXPECT_LE(histogram.shape().layout.bytes, 100u << 20);
  for (std::uint64_t key = 0; key < kMaxElements; ++key) histogram.happen(key * 7);
  const TableContents contents = histogram.contents();
  EXPECT_EQ(contents.hits, kMaxElements);
  EXPECT_EQ(contents.rows.size(), kMaxElements);
  EXPECT_EQ(contents.dropped, 0u);
}

// What is touched is what is used: the first elements, and the slots of their keys.
TEST(HistTableTest, ALargeTableOfFewKeysTakesLittleMemory) {
  TestMemory memory(512 << 20);
  TestHistogram histogram(memory, by_number(kMaxElements));
  for (std::uint64_t key = 0; key < 100; ++key) histogram.happen(key);
  EXPECT_EQ(histogram.contents().rows.size(), 100u);
  const std::size_t pages = histogram.shape().layout.bytes / 4096;
  std::vector<unsigned char> resident(pages);
  ASSERT_EQ(::mincore(histogram.table_at(), pages * 4096, resident.data()), 0);
  EXPECT_LE(std::count_if(resident.begin(), resident.end(), [](unsigned char page) { return (page & 1) != 0; }), 110);
}

TEST(HistTableTest, ThreadsThatInsertTheSameKeysAgree) {
  constexpr std::uint64_t kKeys = 4000;
  constexpr int kThreads = 4;
  TestMemory memory;
  const TestHistogram histogram(memory, by_number(4096));
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      Table table(histogram.table_at(), histogram.shape().layout);
      for (std::uint64_t key = 0; key < kKeys; ++key) hit(histogram, table.find_or_insert(&key, nobody));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const TableContents contents = histogram.contents();
  EXPECT_EQ(contents.rows.size(), kKeys);
  EXPECT_EQ(contents.hits, kKeys * kThreads);
  EXPECT_EQ(contents.dropped, 0u);
  for (const TableRow& row : contents.rows) ASSERT_EQ(row.hitcount, std::uint64_t{kThreads});
}

TEST(HistTableTest, AnElementOfALostRaceIsUsedForAnotherKey) {
  // As many keys as elements: not one may be lost.
  for (int round = 0; round < 50; ++round) {
    TestMemory memory;
    const TestHistogram histogram(memory, by_number(128));
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        Table table(histogram.table_at(), histogram.shape().layout);
        for (std::uint64_t key = 0; key < 128; ++key) {
          // While a race is on an element more may be taken, at the very end.
          std::byte* element = nullptr;
          while ((element = table.find_or_insert(&key, nobody)) == nullptr) {
          }
          hit(histogram, element);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    const TableContents contents = histogram.contents();
    EXPECT_EQ(contents.rows.size(), 128u);
    EXPECT_EQ(contents.hits, 3 * 128u);
  }
}

TEST(HistTableTest, ThreadsThatInsertDifferentKeysLoseNone) {
  constexpr std::uint64_t kKeys = 8000;
  TestMemory memory;
  TestHistogram histogram(memory, by_number(32768, 2));
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      Table table(histogram.table_at(), histogram.shape().layout);
      for (std::uint64_t n = 0; n < kKeys; ++n) {
        const std::uint64_t key[2] = {n, i};
        hit(histogram, table.find_or_insert(key, nobody));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const TableContents contents = histogram.contents();
  EXPECT_EQ(contents.rows.size(), 4 * kKeys);
  EXPECT_EQ(contents.hits, 4 * kKeys);
}

[[noreturn]] void insert_for_ever(const TestHistogram& histogram, unsigned seed) {
  Table table(histogram.table_at(), histogram.shape().layout);
  std::mt19937_64 random(seed);
  for (;;) {
    const std::uint64_t key = random() % 200'000;
    if (std::byte* const element = table.find_or_insert(&key, nobody)) hit(histogram, element);
  }
}

TEST(HistTableTest, ProducersThatAreKilledLeaveItUsable) {
  constexpr unsigned kKills = 300;
  TestMemory memory;
  TestHistogram histogram(memory, by_number(1 << 18));
  for (unsigned round = 0; round < kKills; ++round) {
    pid_t children[2];
    for (unsigned i = 0; i < 2; ++i) {
      children[i] = ::fork();
      if (children[i] == 0) insert_for_ever(histogram, 2 * round + i);
      ASSERT_GT(children[i], 0);
    }
    ::usleep(round * 37 % 300);
    const std::uint64_t mine = 200'000 + round;
    histogram.happen(mine);
    if (round % 100 == 0) {
      EXPECT_GT(histogram.contents().hits, 0u);  // read while the others write
    }
    for (const pid_t child : children) ::kill(child, SIGKILL);
    for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  }
  // All keys are there once, found by their slots, and no more elements are lost than producers were killed.
  const TableContents contents = histogram.contents();
  const Table table(histogram.table_at(), histogram.shape().layout);
  std::uint64_t rows = 0;
  for (std::uint64_t key = 0; key < 200'000 + kKills; ++key) {
    if (table.find(&key) != nullptr) ++rows;
  }
  EXPECT_LE(contents.rows.size(), rows);
  EXPECT_GE(contents.rows.size() + 2 * kKills, rows);  // killed between insertion and count
  EXPECT_LE(table.header().taken, rows + 2 * kKills);
  EXPECT_EQ(contents.dropped, 0u);
  for (std::uint64_t key = 200'000; key < 200'000 + kKills; ++key) {
    const std::byte* const element = table.find(&key);
    ASSERT_NE(element, nullptr);
    EXPECT_EQ(detail::load_word(element + histogram.shape().layout.hitcount_at()), 1u);
  }
}

// -- memory that another has spoilt
// ------------------------------------------------------------------------------------
TEST(HistTableTest, NothingThatStandsInItLeadsOutOfIt) {
  HistPlanDescription what = by_number(128);
  what.variables.push_back(static_text(0, 8));
  what.has_comm = true;
  HistActionDescription snapshot;
  snapshot.handler = Handler::kOnMax;
  snapshot.deed = Deed::kSnapshot;
  snapshot.tracked = number({field(0, 8)});
  what.actions.push_back(snapshot);
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    // Behind the table there is nothing.
    const auto shape = shape_of(what);
    const std::uint64_t pages = (shape->layout.bytes + 4095) / 4096 * 4096;
    TestMemory memory(4096 + pages);
    TestHistogram histogram(memory, what);
    const std::uint64_t words = shape->layout.bytes / 8;
    auto* const at = reinterpret_cast<std::uint64_t*>(histogram.table_at());
    for (std::uint64_t i = 0; i < words; ++i) {
      if (random() % 4 != 0) continue;
      const std::uint64_t number = random();
      at[i] = round % 2 == 0 ? number : number << 32 | number % 200;
    }
    for (std::uint64_t key = 0; key < 300; ++key) histogram.happen(key);
    const TableContents contents = histogram.contents();
    EXPECT_LE(contents.rows.size(), 128u);
  }
}

TEST(HistTableTest, ATableOfFullSlotsEndsEverySearch) {
  TestMemory memory;
  TestHistogram histogram(memory, by_number(128));
  auto* const slots = reinterpret_cast<std::uint64_t*>(histogram.table_at() + sizeof(TableHeader));
  for (std::uint32_t i = 0; i < histogram.shape().layout.slots(); ++i) slots[i] = ~0ull;
  const std::uint64_t key = 5;
  histogram.happen(key);
  EXPECT_EQ(Table(histogram.table_at(), histogram.shape().layout).find(&key), nullptr);
  EXPECT_EQ(histogram.contents().dropped, 1u);
  EXPECT_EQ(histogram.contents().rows.size(), 0u);
}

TEST(HistTableTest, AListOfSpareElementsThatNeverEndsIsNoHarm) {
  TestMemory memory;
  TestHistogram histogram(memory, by_number(128));
  const Table table(histogram.table_at(), histogram.shape().layout);
  table.header().spare = 1;
  detail::store_word(table.element(0), 1);
  for (std::uint64_t key = 0; key < 1000; ++key) histogram.happen(key);
  EXPECT_LE(histogram.contents().rows.size(), 128u);
}

}  // namespace
}  // namespace landtrace::hist
