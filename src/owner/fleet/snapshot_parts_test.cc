#include "fleet/snapshot_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace landtrace::fleet {
namespace {

constexpr std::uint64_t kGeneration = 7;

std::string some_bytes(std::size_t count) {
  std::mt19937 random(5);
  std::string bytes;
  while (bytes.size() < count) bytes += static_cast<char>(random());
  return bytes;
}

std::vector<std::string> parts_of(const std::string& file, std::size_t most) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < file.size(); at += most) {
    parts.push_back(encode({kGeneration, at, std::string_view(file).substr(at, most)}));
  }
  return parts;
}

SnapshotEnd end_of(const std::string& file) {
  return {.generation = kGeneration, .parts = 3, .bytes = file.size(), .hash = hash_of(file)};
}

// As whoever fetches it does.
struct Fetched {
  Assembly assembly;
  std::string file;

  void take(const std::string& message) {
    const auto part = part_of_snapshot(message);
    ASSERT_TRUE(part);
    if (!assembly.add(*part)) return;
    file.resize(std::max(file.size(), part->offset + part->bytes.size()));
    std::copy(part->bytes.begin(), part->bytes.end(), file.begin() + static_cast<std::ptrdiff_t>(part->offset));
  }
};

TEST(SnapshotPartsTest, InAnyOrderAndSeveralTimesTheyAreTheFile) {
  const std::string file = some_bytes(10'007);
  std::mt19937 random(9);
  for (int round = 0; round < 20; ++round) {
    // Also by two sizes of parts: a server's limit may change between two tries.
    std::vector<std::string> parts = parts_of(file, 100 + 37 * static_cast<std::size_t>(round));
    for (const std::string& part : parts_of(file, 999)) parts.push_back(part);
    std::shuffle(parts.begin(), parts.end(), random);
    Fetched fetched;
    const std::size_t end_at = random() % parts.size();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i == end_at) {
        EXPECT_TRUE(fetched.assembly.finish(end_of(file)));
      }
      fetched.take(parts[i]);
    }
    EXPECT_TRUE(fetched.assembly.is_complete());
    EXPECT_EQ(fetched.assembly.there(), file.size());
    EXPECT_EQ(fetched.file, file);
    EXPECT_EQ(hash_of(fetched.file), fetched.assembly.end()->hash);
  }
}

TEST(SnapshotPartsTest, WithoutOneItIsNotComplete) {
  const std::string file = some_bytes(1000);
  const std::vector<std::string> parts = parts_of(file, 100);
  for (std::size_t missing = 0; missing < parts.size(); ++missing) {
    Fetched fetched;
    fetched.assembly.finish(end_of(file));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i != missing) fetched.take(parts[i]);
      if (i != missing) fetched.take(parts[i]);
    }
    EXPECT_FALSE(fetched.assembly.is_complete()) << missing;
    EXPECT_EQ(fetched.assembly.there(), 900u);
    fetched.take(parts[missing]);
    EXPECT_TRUE(fetched.assembly.is_complete()) << missing;
  }
}

TEST(SnapshotPartsTest, WithoutItsEndItIsNotComplete) {
  Fetched fetched;
  for (const std::string& part : parts_of(some_bytes(300), 100)) fetched.take(part);
  EXPECT_FALSE(fetched.assembly.is_complete());
  EXPECT_EQ(fetched.assembly.there(), 300u);
}

TEST(SnapshotPartsTest, ANewerGenerationReplacesTheOlderOne) {
  Assembly assembly;
  EXPECT_TRUE(assembly.add({1, 0, "aaaa"}));
  EXPECT_TRUE(assembly.finish({.generation = 1, .bytes = 8}));
  EXPECT_TRUE(assembly.add({2, 4, "bbbb"}));
  EXPECT_FALSE(assembly.end());
  EXPECT_EQ(assembly.there(), 4u);
  EXPECT_FALSE(assembly.add({1, 4, "aaaa"}));
  EXPECT_FALSE(assembly.finish({.generation = 1, .bytes = 8}));
  EXPECT_TRUE(assembly.finish({.generation = 2, .bytes = 8}));
  EXPECT_FALSE(assembly.is_complete());
  EXPECT_TRUE(assembly.add({2, 0, "bbbb"}));
  EXPECT_TRUE(assembly.is_complete());
}

TEST(SnapshotPartsTest, WhatIsBehindTheEndDoesNotCount) {
  Assembly assembly;
  EXPECT_TRUE(assembly.finish({.generation = 1, .bytes = 4}));
  EXPECT_TRUE(assembly.add({1, 4, "xxxx"}));
  EXPECT_FALSE(assembly.is_complete());
  EXPECT_TRUE(assembly.add({1, 0, "xxxxxx"}));
  EXPECT_TRUE(assembly.is_complete());
}

TEST(SnapshotPartsTest, ADiskIsNotFilledByWhoSaysThatItHasALot) {
  Assembly assembly;
  EXPECT_FALSE(assembly.add({1, ~0ull, "x"}));
  EXPECT_FALSE(assembly.add({1, 2 * kMostSnapshotBytes, "x"}));
  EXPECT_TRUE(assembly.add({1, 2 * kMostSnapshotBytes - 1, "x"}));
}

// As each of them would be walked over for each message that comes.
TEST(SnapshotPartsTest, WhatHasGapsWithoutEndIsRefused) {
  Assembly assembly;
  std::uint64_t taken = 0;
  for (std::uint64_t offset = 0; offset < 400'000; offset += 2) taken += assembly.add({1, offset, "x"}) ? 1 : 0;
  EXPECT_LT(taken, 10'000u);
  EXPECT_EQ(assembly.there(), taken);
  EXPECT_TRUE(assembly.add({1, 1, std::string(2 * taken, 'y')})) << "what fills gaps is taken";
  EXPECT_EQ(assembly.there(), 2 * taken + 1);
  EXPECT_TRUE(assembly.finish({.generation = 1, .bytes = 2 * taken}));
  EXPECT_TRUE(assembly.is_complete());
}

// The smallest parts that hosts send, in the worst order.
TEST(SnapshotPartsTest, EachSecondPartMayComeFirst) {
  constexpr std::uint64_t kSmall = 16 * 1024;
  const std::string part(kSmall, 'x');
  Assembly assembly;
  EXPECT_TRUE(assembly.finish({.generation = 1, .bytes = kMostSnapshotBytes}));
  for (const std::uint64_t first : {std::uint64_t{0}, kSmall}) {
    for (std::uint64_t at = first; at < kMostSnapshotBytes; at += 2 * kSmall) {
      ASSERT_TRUE(assembly.add({1, at, part}));
    }
  }
  EXPECT_TRUE(assembly.is_complete());
}

TEST(SnapshotPartsTest, TheEndMayBeSaidAgainAndOtherwise) {
  Assembly assembly;
  EXPECT_TRUE(assembly.add({1, 0, "aaaa"}));
  EXPECT_TRUE(assembly.add({1, 6, "aaaa"}));
  for (const auto& [bytes, there] : {std::pair(8u, 6u), std::pair(20u, 8u), std::pair(5u, 4u), std::pair(7u, 5u)}) {
    EXPECT_TRUE(assembly.finish({.generation = 1, .bytes = bytes}));
    EXPECT_EQ(assembly.there(), there);
  }
  EXPECT_TRUE(assembly.add({1, 3, "aaaa"}));
  EXPECT_EQ(assembly.there(), 7u);
  EXPECT_TRUE(assembly.is_complete());
}

TEST(SnapshotPartsTest, GarbageIsRefused) {
  EXPECT_EQ(part_of_snapshot("").error().code, EBADMSG);
  EXPECT_EQ(part_of_snapshot(std::string(kPartHead, 'x')).error().code, EBADMSG);
  for (const char* const garbage : {"", "[]", "{}", "7", R"({"generation":1,"parts":1,"bytes":"x","hash":1})",
                                    R"({"generation":1,"parts":1,"bytes":1,"hash":1,"bound_ns":1})"}) {
    EXPECT_EQ(snapshot_end_of(garbage).error().code, EBADMSG) << garbage;
  }
}

TEST(SnapshotPartsTest, AnEndIsReadBack) {
  SnapshotEnd end{.generation = 1,
                  .parts = 2,
                  .bytes = 3,
                  .hash = ~0ull,
                  .events = 5,
                  .left = 6,
                  .oldest_ns = 7,
                  .frozen_ns = 8,
                  .clock = ClockOffset{-9, 10},
                  .left_out = {"user", "query"}};
  EXPECT_EQ(snapshot_end_of(json_of(end)).value_or(SnapshotEnd()), end);
  end.clock.reset();
  EXPECT_EQ(snapshot_end_of(json_of(end)).value_or(SnapshotEnd()), end);
}

}  // namespace
}  // namespace landtrace::fleet
