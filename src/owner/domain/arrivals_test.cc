#include "domain/arrivals.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace landtrace::domain {
namespace {

// Whether it waits as long as it ever does. A busy machine may not let the courier run for so long.
bool gives_up(const Arrivals& arrivals) {
  const auto start = std::chrono::steady_clock::now();
  arrivals.wait();
  return std::chrono::steady_clock::now() - start > std::chrono::milliseconds(900);
}

TEST(ArrivalsTest, NothingIsAwaitedBeforeTheFirstAndAfterTheLast) {
  Arrivals arrivals;
  EXPECT_FALSE(arrivals.are_awaited());
  arrivals.wait();
  const auto one = arrivals.begin();
  const auto two = arrivals.begin();
  EXPECT_TRUE(arrivals.are_awaited());
  arrivals.end(one);
  EXPECT_TRUE(arrivals.are_awaited());
  arrivals.end(two);
  EXPECT_FALSE(arrivals.are_awaited());
}

TEST(ArrivalsTest, WaitingEndsWithTheLastThatHadBegunWhateverTheOrder) {
  Arrivals arrivals;
  const auto one = arrivals.begin();
  const auto two = arrivals.begin();
  std::atomic<bool> has_ended = false;
  std::thread courier([&] {
    arrivals.end(two);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    has_ended = true;
    arrivals.end(one);
  });
  EXPECT_TRUE(gives_up(arrivals) || has_ended);
  courier.join();
}

// Somebody who changes pages again and again must not keep others waiting.
TEST(ArrivalsTest, WhatBeginsMeanwhileIsNotWaitedFor) {
  const auto is_waited_for = [] {
    Arrivals arrivals;
    const auto meant = arrivals.begin();
    std::thread courier([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      std::ignore = arrivals.begin();
      arrivals.end(meant);
    });
    const bool gave_up = gives_up(arrivals);
    courier.join();
    EXPECT_TRUE(arrivals.are_awaited());
    return gave_up;
  };
  int times = 1;
  while (is_waited_for() && times < 5) ++times;
  EXPECT_LT(times, 5);
}

TEST(ArrivalsTest, WhatNeverArrivesIsGivenUp) {
  Arrivals arrivals;
  std::ignore = arrivals.begin();
  EXPECT_TRUE(gives_up(arrivals));
  EXPECT_TRUE(arrivals.are_awaited());
}

}  // namespace
}  // namespace landtrace::domain
