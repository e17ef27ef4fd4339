#include "fleet/take_waiting.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace landtrace::fleet {
namespace {

int taken_of(int there, std::uint64_t waiting) {
  int taken = 0;
  const auto next = [&]() -> Result<std::optional<int>> { return there-- > 0 ? std::optional(there) : std::nullopt; };
  EXPECT_TRUE(take_waiting(waiting, next, [&](int) {
    ++taken;
    return Result<void>();
  }));
  return taken;
}

TEST(TakeWaitingTest, WhoSendsWithoutEndKeepsNobodyWaiting) {
  EXPECT_EQ(taken_of(10'000, 300), 300);
  EXPECT_EQ(taken_of(10'000, 0), 1);
}

TEST(TakeWaitingTest, WhatIsNotThereIsNotWaitedForTwice) {
  EXPECT_EQ(taken_of(0, 0), 0);
  EXPECT_EQ(taken_of(2, 3), 2);
}

TEST(TakeWaitingTest, WhatFailsEndsIt) {
  int taken = 0;
  const auto next = []() -> Result<std::optional<int>> { return 1; };
  const auto done = take_waiting(3, next, [&](int) -> Result<void> {
    if (++taken < 2) return {};
    return fail(ENOSPC);
  });
  EXPECT_EQ(done.error().code, ENOSPC);
  EXPECT_EQ(taken, 2);
}

}  // namespace
}  // namespace landtrace::fleet
