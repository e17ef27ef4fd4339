#include "arch/clock_line.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace landtrace::arch {
namespace {

using Moments = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Moments moments_over(RawClock clock, ClockLine* sampled) {
  Moments moments;
  for (int i = 0; i < 2000; ++i) {
    moments.emplace_back(read_raw_clock(clock), monotonic_ns());
    if (sampled != nullptr && i % 50 == 0) sampled->sample();
    if (i % 100 == 0) {
      const timespec pause{0, 200'000};
      ::nanosleep(&pause, nullptr);
    }
  }
  return moments;
}

// A moment may have been interrupted between its two readings.
void expect_true(const ClockLine& line, const Moments& moments) {
  std::uint64_t last = 0;
  int far = 0;
  for (const auto& [raw, ns] : moments) {
    const std::uint64_t shown = line.to_ns(raw);
    ASSERT_GE(shown, last);
    last = shown;
    if (std::llabs(static_cast<long long>(shown - ns)) > 20'000) ++far;
  }
  EXPECT_LT(far, 100);
}

TEST(ClockLineTest, TimesBetweenTwoPairsAreTrueHoweverFarApartThoseAre) {
  const RawClock clock = best_raw_clock();
  ClockLine line(clock, CLOCK_MONOTONIC);
  const Moments moments = moments_over(clock, nullptr);
  line.sample();
  expect_true(line, moments);
}

TEST(ClockLineTest, WhatWasShownOnceStays) {
  const RawClock clock = best_raw_clock();
  ClockLine line(clock, CLOCK_MONOTONIC);
  const Moments moments = moments_over(clock, &line);
  line.sample();
  std::vector<std::uint64_t> shown;
  for (const auto& [raw, ns] : moments) shown.push_back(line.to_ns(raw));
  expect_true(line, moments_over(clock, &line));
  // Pairs lie twice as far apart each time, so the last one is beyond the middle; what is behind it may move.
  const std::uint64_t sampled_ns = (moments.back().second - moments.front().second) * 2 / 5;
  for (std::size_t i = 0; moments[i].second - moments.front().second < sampled_ns; ++i) {
    ASSERT_EQ(line.to_ns(moments[i].first), shown[i]);
  }
}

TEST(ClockLineTest, MonotonicClockNeedsNoLine) {
  ClockLine line(RawClock::kMonotonic, CLOCK_MONOTONIC);
  line.sample();
  EXPECT_EQ(line.to_ns(4711), 4711u);
}

TEST(ClockLineTest, ShowsOtherClocks) {
  ClockLine line(best_raw_clock(), CLOCK_BOOTTIME);
  timespec now;
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const std::uint64_t raw = read_raw_clock(line.raw_clock());
  line.sample();
  const auto expected = static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
  EXPECT_NEAR(static_cast<double>(line.to_ns(raw)) / 1e9, expected, 0.01);
}

}  // namespace
}  // namespace landtrace::arch
