#include "base/guess.hpp"

#include <gtest/gtest.h>

namespace landtrace {
namespace {

TEST(GuessTest, WhatComesBackIsWhatTheLoadGaveWhateverWasGuessed) {
  for (const std::uint32_t before : {0u, 7u, 8u, ~0u}) {
    std::uint32_t guess = before;
    EXPECT_EQ(guessed(7, &guess), 7u);
    EXPECT_EQ(guess, 7u) << "it is remembered";
    EXPECT_EQ(guessed(7, &guess), 7u);
    EXPECT_EQ(guess, 7u);
  }
}

TEST(GuessTest, NobodyNeedsToRemember) { EXPECT_EQ(guessed(7, nullptr), 7u); }

}  // namespace
}  // namespace landtrace
