#include "domain/attention.hpp"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

#include "base/fd.hpp"

namespace landtrace::domain {
namespace {

namespace fs = std::filesystem;

std::set<std::string> threads() {
  std::set<std::string> ids;
  for (const auto& entry : fs::directory_iterator("/proc/self/task")) ids.insert(entry.path().filename());
  return ids;
}

class AttentionTest : public testing::Test {
 protected:
  AttentionTest() {
    for (std::uint32_t uid = 0; uid < 3; ++uid) EXPECT_TRUE(users_.find_or_create(uid));
    counter_ = *cells_.take_counter();
    attention_.emplace(mutex_, cells_);
  }
  plan::DataSegment& data(std::uint32_t user) { return users_.all()[user].data(); }
  void watch(std::uint32_t user) { attention_->watch(&data(user).attention); }
  // As a producer of the user does whose trigger has changed soft state.
  void count(std::uint32_t user) {
    plan::count(data(user).cells[counter_]);
    __atomic_fetch_add(&data(user).attention, 1, __ATOMIC_RELEASE);
    ::syscall(SYS_futex, &data(user).attention, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
  // Until the user's producers are told of so many. Where that never comes the test ends at its time limit.
  void wait_until_told(std::uint32_t user, std::uint64_t of) {
    while (plan::counted(data(user).cells[counter_]) != of) std::this_thread::yield();
  }

  Users users_{sizeof(plan::DataSegment) + (1 << 20)};
  Cells cells_{users_, arch::best_raw_clock()};
  std::recursive_mutex mutex_;
  std::uint32_t counter_ = 0;
  std::optional<Attention> attention_;
};

TEST_F(AttentionTest, WhatOneUsersProducersDoTheOthersAreTold) {
  watch(0), watch(1), watch(2);
  std::uint64_t all = 0;
  for (std::uint32_t round = 0; round < 20; ++round) {
    count(round % 3);
    ++all;
    for (std::uint32_t user = 0; user < 3; ++user) wait_until_told(user, all);
  }
}

TEST_F(AttentionTest, AUserWhoComesLaterIsWatchedToo) {
  watch(0), watch(1);
  count(0);
  wait_until_told(1, 1);
  watch(2);
  count(2);
  wait_until_told(0, 2);
}

TEST_F(AttentionTest, ForOneUserThereIsNoThreadAndForTwoThereIsOneUntilTheEnd) {
  const auto before = threads();
  watch(0);
  count(0);
  EXPECT_EQ(threads(), before) << "there is nobody to be told";
  watch(1);
  wait_until_told(1, 1);
  auto with = threads();
  ASSERT_EQ(with.size(), before.size() + 1);
  for (const std::string& id : before) with.erase(id);
  const auto status = read_file("/proc/self/task/" + *with.begin() + "/status");
  const auto blocked = status->find("SigBlk:\t");
  ASSERT_NE(blocked, std::string::npos);
  EXPECT_NE(std::strtoull(status->c_str() + blocked + 8, nullptr, 16) & 1ull << (SIGTERM - 1), 0u)
      << "signals are for threads that know what to do with them";
  attention_.reset();
  // One that was joined is in the list until the kernel has done with it.
  while (threads() != before) std::this_thread::yield();
}

TEST_F(AttentionTest, ItWaitsForTheDomain) {
  watch(0), watch(1);
  count(0);
  wait_until_told(1, 1);
  {
    const std::lock_guard held(mutex_);
    for (int i = 0; i < 100; ++i) count(0);
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
    EXPECT_EQ(plan::counted(data(1).cells[counter_]), 1u);
  }
  wait_until_told(1, 101);
}

TEST_F(AttentionTest, ChangesThatComeFastAreAllToldInTheEnd) {
  watch(0), watch(1);
  for (int i = 0; i < 20000; ++i) count(0);
  wait_until_told(1, 20000);
}

}  // namespace
}  // namespace landtrace::domain
