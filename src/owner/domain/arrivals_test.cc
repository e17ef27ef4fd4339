#include "domain/arrivals.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace landtrace::domain {
namespace {

// The test would not end.
constexpr std::chrono::hours kForEver(24);

TEST(ArrivalsTest, NothingIsAwaitedBeforeTheFirstAndAfterTheLast) {
  Arrivals arrivals(kForEver);
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
  Arrivals arrivals(kForEver);
  const auto one = arrivals.begin();
  const auto two = arrivals.begin();
  std::atomic<bool> has_ended = false;
  std::thread courier([&] {
    arrivals.end(two);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    has_ended = true;
    arrivals.end(one);
  });
  arrivals.wait();
  EXPECT_TRUE(has_ended);
  courier.join();
}

// Somebody who changes pages again and again must not keep others waiting.
TEST(ArrivalsTest, WhatBeginsMeanwhileIsNotWaitedFor) {
  Arrivals arrivals(kForEver);
  const auto meant = arrivals.begin();
  const auto first_not_meant = arrivals.next();
  std::ignore = arrivals.begin();
  arrivals.end(meant);
  arrivals.wait_before(first_not_meant);
  EXPECT_TRUE(arrivals.are_awaited());
}

TEST(ArrivalsTest, WhatNeverArrivesIsGivenUp) {
  Arrivals arrivals;
  std::ignore = arrivals.begin();
  arrivals.wait();
  EXPECT_TRUE(arrivals.are_awaited());
}

}  // namespace
}  // namespace landtrace::domain
