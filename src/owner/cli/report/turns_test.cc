#include "cli/report/turns.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace landtrace::cli {
namespace {

TEST(TurnsTest, PiecesPassInTheirOrderWhoeverIsFirst) {
  constexpr std::size_t kThreads = 5;
  constexpr std::uint64_t kPieces = 2000;
  Turns turns(kThreads);
  std::atomic<std::uint64_t> taken = 0;
  std::vector<std::uint64_t> passed;
  const auto work = [&] {
    for (std::uint64_t number = taken++; number < kPieces; number = taken++) {
      if (number % 3 == 0) std::this_thread::yield();  // so that others come before it
      ASSERT_TRUE(turns.wait_for(number));
      passed.push_back(number);
      turns.pass();
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(passed.size(), kPieces);
  for (std::uint64_t i = 0; i < kPieces; ++i) EXPECT_EQ(passed[i], i);
}

TEST(TurnsTest, WhoWaitsIsToldThatNoTurnComes) {
  Turns turns(3);
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  for (const std::uint64_t number : {1u, 2u}) {
    threads.emplace_back([&turns, &refused, number] { refused += turns.wait_for(number) ? 0 : 1; });
  }
  EXPECT_TRUE(turns.wait_for(0));
  turns.stop();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, 2);
  EXPECT_FALSE(turns.wait_for(0));
}

}  // namespace
}  // namespace landtrace::cli
