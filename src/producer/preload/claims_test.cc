#include "preload/claims.hpp"

#include <set>

#include "client/fake_owner.hpp"

namespace landtrace::preload {
namespace {

using client::ClientTest;

constexpr std::uint64_t kWord = 0x7f00'0000'1000;
constexpr std::uint32_t kMost = 1u << 16;

class ClaimsTest : public ClientTest {};

TEST_F(ClaimsTest, AClaimSaysWhichWordIsRegistered) {
  in_child([] {
    const ipc::Claim* const claim = claim_word(kWord, 5);
    ASSERT_NE(claim, nullptr);
    EXPECT_TRUE(claim->is_valid(kWord, 5));
    EXPECT_FALSE(claim->is_valid(kWord, 6));
    EXPECT_FALSE(claim->is_valid(kWord + 4, 5));
  });
}

TEST_F(ClaimsTest, AClaimThatWasGivenUpIsNoneAndServesAgain) {
  in_child([] {
    ipc::Claim* const first = claim_word(kWord, 0);
    ipc::Claim* const second = claim_word(kWord + 8, 0);
    EXPECT_NE(first, second);
    give_up(first);
    EXPECT_FALSE(first->is_valid(kWord, 0));
    EXPECT_TRUE(second->is_valid(kWord + 8, 0));
    EXPECT_EQ(claim_word(kWord + 16, 1), first);
    EXPECT_TRUE(first->is_valid(kWord + 16, 1));
    give_up(nullptr);
  });
}

TEST_F(ClaimsTest, AllClaimsOfAWordAreGivenUpTogether) {
  in_child([] {
    give_up_word(kWord, 0);  // there is none yet
    const ipc::Claim* const twice[] = {claim_word(kWord, 0), claim_word(kWord, 0)};
    const ipc::Claim* const other_bit = claim_word(kWord, 1);
    const ipc::Claim* const other_word = claim_word(kWord + 8, 0);
    give_up_word(kWord, 0);
    for (const ipc::Claim* const claim : twice) EXPECT_FALSE(claim->is_valid(kWord, 0));
    EXPECT_TRUE(other_bit->is_valid(kWord, 1));
    EXPECT_TRUE(other_word->is_valid(kWord + 8, 0));
  });
}

TEST_F(ClaimsTest, WhereThereIsNoRoomTheWordHasNone) {
  in_child([] {
    std::vector<ipc::Claim*> all;
    for (std::uint32_t i = 0; i < kMost; ++i) all.push_back(claim_word(kWord + i, 0));
    EXPECT_EQ(std::set<ipc::Claim*>(all.begin(), all.end()).size(), kMost);
    EXPECT_FALSE(std::set<ipc::Claim*>(all.begin(), all.end()).contains(nullptr));
    EXPECT_EQ(claim_word(kWord, 0), nullptr);
    EXPECT_EQ(claim_word(kWord, 0), nullptr);
    // Two that were given up: one is remembered, the other one is looked for.
    give_up(all[100]);
    give_up(all[200]);
    const std::set<ipc::Claim*> found{claim_word(kWord, 1), claim_word(kWord, 2)};
    EXPECT_EQ(found, (std::set<ipc::Claim*>{all[100], all[200]}));
    EXPECT_EQ(claim_word(kWord, 0), nullptr);
    give_up_word(kWord + kMost - 1, 0);
    EXPECT_FALSE(all.back()->is_valid(kWord + kMost - 1, 0));
  });
}

TEST_F(ClaimsTest, ThreadsAtOnceGetAClaimEach) {
  in_child([] {
    constexpr std::uint32_t kThreads = 4;
    constexpr std::uint32_t kEach = 1000;
    std::vector<std::vector<ipc::Claim*>> taken(kThreads);
    std::atomic<std::uint32_t> ready = 0;
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        ++ready;
        while (ready < kThreads) std::this_thread::yield();
        for (std::uint32_t n = 0; n < kEach; ++n) {
          give_up(claim_word(kWord, 9));
          taken[i].push_back(claim_word(kWord + n, i));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::set<ipc::Claim*> all;
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      for (std::uint32_t n = 0; n < kEach; ++n) {
        EXPECT_TRUE(taken[i][n]->is_valid(kWord + n, i));
        all.insert(taken[i][n]);
      }
    }
    EXPECT_EQ(all.size(), kThreads * kEach);
  });
}

}  // namespace
}  // namespace landtrace::preload
