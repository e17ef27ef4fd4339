#include "plan/thread_slots.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <set>
#include <thread>

#include "base/test_thread.hpp"
#include "plan/test_domain.hpp"

namespace landtrace::plan {
namespace {

std::uint32_t own_pid() { return static_cast<std::uint32_t>(::getpid()); }
std::uint32_t own_tid() { return static_cast<std::uint32_t>(::syscall(SYS_gettid)); }

// A process that has ended.
std::uint32_t dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  return static_cast<std::uint32_t>(child);
}

class ThreadSlotsTest : public testing::Test {
 protected:
  void SetUp() override { slots()[0] = {}; }

  [[nodiscard]] ThreadSlot* slots() const { return domain_.data().threads; }
  std::uint32_t claim(std::uint32_t pid = own_pid(), std::uint32_t tid = own_tid()) const {
    ThreadSlot* const slot = claim_thread_slot(domain_.data(), pid, tid);
    return slot == nullptr ? kMaxThreads : static_cast<std::uint32_t>(slot - slots());
  }
  void fill_all_with(std::uint32_t pid, std::uint32_t tid) const {
    for (std::uint32_t i = 0; i < kMaxThreads; ++i) slots()[i] = {.section = 0, .tid = tid, .pid = pid};
    domain_.data().thread_high = kMaxThreads;
  }

  TestDomain domain_;
};

TEST_F(ThreadSlotsTest, AThreadGetsASlotWithItsIds) {
  const std::uint32_t index = claim();
  ASSERT_EQ(index, 0u);
  EXPECT_EQ(slots()[0].tid, own_tid());
  EXPECT_EQ(slots()[0].pid, own_pid());
  EXPECT_EQ(domain_.data().thread_high, 1u);
}

TEST_F(ThreadSlotsTest, WhatAProcessHadBeforeItsLastExecIsFreedAndInNoEventAnyMore) {
  constexpr std::uint64_t kInside = 7 << 16 | 1;
  const auto mine = [](std::uint32_t program) {
    return ThreadSlot{.section = kInside, .tid = own_tid(), .pid = own_pid(), .program = program};
  };
  constexpr std::uint32_t kBefore = 3, kNow = 5;
  slots()[0] = mine(kBefore);
  slots()[1] = mine(kNow);
  slots()[2] = mine(0);
  slots()[3] = {.section = kInside, .tid = own_tid(), .pid = own_pid() + 1, .program = kBefore};
  domain_.data().thread_high = 4;
  free_slots_before_exec(domain_.data(), own_pid(), kNow);
  EXPECT_EQ(slots()[0].tid, 0u);
  EXPECT_EQ(slots()[0].pid, 0u);
  EXPECT_EQ(slots()[0].section, 8u << 16);
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(slots()[i].tid, own_tid()) << i;
    EXPECT_EQ(slots()[i].section, kInside) << i;
  }
}

TEST_F(ThreadSlotsTest, TheNextSlotIsTriedFirst) {
  EXPECT_EQ(claim(), 0u);
  EXPECT_EQ(claim(), 1u);
  slots()[0].tid = 0;
  EXPECT_EQ(claim(), 2u);
  EXPECT_EQ(domain_.data().thread_high, 3u);
}

TEST_F(ThreadSlotsTest, TheSearchGoesOnAtTheBeginning) {
  domain_.data().thread_hint = kMaxThreads - 1;
  EXPECT_EQ(claim(), kMaxThreads - 1);
  EXPECT_EQ(claim(), 0u);
  EXPECT_EQ(domain_.data().thread_high, kMaxThreads);
}

TEST_F(ThreadSlotsTest, WhatStandsInTheSegmentLeadsNobodyOutOfIt) {
  domain_.data().thread_hint = ~0u;
  domain_.data().thread_high = ~0u;
  const std::uint32_t index = claim();
  EXPECT_EQ(index, ~0u % kMaxThreads);
  EXPECT_EQ(free_dead_thread_slots(domain_.data(), 0), 0u);
}

TEST_F(ThreadSlotsTest, ItsNameIsLeftInTheTaskTable) {
  char before[16];
  ::prctl(PR_GET_NAME, before);
  ::prctl(PR_SET_NAME, "fifteen letters");
  claim();
  ::prctl(PR_SET_NAME, before);
  const TaskEntry& task = domain_.data().tasks[own_tid() % kMaxTasks];
  EXPECT_EQ(task.tid, own_tid());
  EXPECT_EQ(task.pid, own_pid());
  EXPECT_STREQ(task.comm, "fifteen letters");
}

TEST_F(ThreadSlotsTest, AnIdBeyondTheTaskTableHasItsPlaceThere) {
  claim(own_pid(), kMaxTasks + 5);
  EXPECT_EQ(domain_.data().tasks[5].tid, kMaxTasks + 5);
}

// A predecessor that was killed inside the data plane must not keep the owner waiting.
TEST_F(ThreadSlotsTest, ADeadPredecessorsDepthIsForgottenAndItsNumberKept) {
  slots()[0].section = 0x70003;
  EXPECT_EQ(claim(), 0u);
  EXPECT_EQ(slots()[0].section, 0x70000u);
}

TEST_F(ThreadSlotsTest, ErrnoStaysAsItWas) {
  fill_all_with(own_pid(), dead_thread());
  errno = EDOM;
  claim();
  EXPECT_EQ(errno, EDOM);
}

TEST_F(ThreadSlotsTest, ThreadsAreToldFromThoseThatAreGone) {
  EXPECT_FALSE(thread_is_gone(own_pid(), own_tid()));
  EXPECT_TRUE(thread_is_gone(own_pid(), dead_thread()));
  const std::uint32_t dead = dead_process();
  EXPECT_TRUE(thread_is_gone(dead, dead));
}

TEST_F(ThreadSlotsTest, OnlySlotsOfTheDeadAreFreed) {
  const std::uint32_t dead = dead_process();
  slots()[0] = {.section = 0, .tid = own_tid(), .pid = own_pid()};
  slots()[1] = {.section = 0, .tid = dead, .pid = dead};
  slots()[2] = {.section = 0, .tid = dead, .pid = 0};  // nobody can tell: of another pid namespace
  slots()[3] = {.section = 0, .tid = dead_thread(), .pid = own_pid()};
  domain_.data().thread_high = 4;
  EXPECT_EQ(free_dead_thread_slots(domain_.data(), own_pid()), 1u);
  EXPECT_EQ(slots()[3].tid, 0u);
  EXPECT_EQ(slots()[1].tid, dead);
  EXPECT_EQ(free_dead_thread_slots(domain_.data(), 0), 1u);
  EXPECT_EQ(slots()[1].tid, 0u);
  EXPECT_EQ(slots()[1].pid, 0u);
  EXPECT_EQ(slots()[0].tid, own_tid());
  EXPECT_EQ(slots()[0].pid, own_pid());
  EXPECT_EQ(slots()[2].tid, dead);
}

TEST_F(ThreadSlotsTest, SlotsThatWereNeverUsedAreNotLookedAt) {
  const std::uint32_t dead = dead_process();
  slots()[5] = {.section = 0, .tid = dead, .pid = dead};
  domain_.data().thread_high = 5;
  EXPECT_EQ(free_dead_thread_slots(domain_.data(), 0), 0u);
  domain_.data().thread_high = 6;
  EXPECT_EQ(free_dead_thread_slots(domain_.data(), 0), 1u);
}

TEST_F(ThreadSlotsTest, AProgramOfManyShortThreadsReusesItsSlots) {
  const std::uint32_t dead = dead_thread();
  for (std::uint32_t i = 0; i < 255; ++i) slots()[i] = {.section = 0, .tid = dead, .pid = own_pid()};
  domain_.data().thread_high = 255;
  domain_.data().thread_hint = 254;
  slots()[254].tid = 0;
  EXPECT_EQ(claim(), 254u);  // not at a stride: the next slot
  EXPECT_EQ(domain_.data().thread_hint, 255u);
  EXPECT_EQ(claim(), 0u);
  EXPECT_EQ(slots()[100].tid, 0u);
}

TEST_F(ThreadSlotsTest, AtAStrideWhereNobodyHasDiedTheNextSlotIsTaken) {
  for (std::uint32_t i = 0; i < 255; ++i) slots()[i] = {.section = 0, .tid = own_tid(), .pid = own_pid()};
  domain_.data().thread_high = 255;
  domain_.data().thread_hint = 255;
  EXPECT_EQ(claim(), 255u);
}

TEST_F(ThreadSlotsTest, WhereAllAreTakenByTheLivingThereIsNone) {
  fill_all_with(own_pid(), own_tid());
  EXPECT_EQ(claim(), kMaxThreads);
  EXPECT_EQ(domain_.data().tasks[own_tid() % kMaxTasks].tid, 0u);
}

TEST_F(ThreadSlotsTest, WhereAllAreTakenTheOwnDeadGiveWayAndThenThoseOfOthers) {
  const std::uint32_t other = dead_process();
  fill_all_with(other, other);
  slots()[7] = {.section = 0, .tid = dead_thread(), .pid = own_pid()};
  EXPECT_EQ(claim(), 7u);
  EXPECT_EQ(slots()[8].tid, other);
  EXPECT_EQ(claim(), 8u);
  EXPECT_EQ(slots()[6].tid, 0u);
}

TEST_F(ThreadSlotsTest, AtAStrideAThreadOfAnotherNamespaceFreesNobody) {
  const std::uint32_t dead = dead_process();
  slots()[0] = {.section = 0, .tid = dead, .pid = dead};
  domain_.data().thread_high = 1;
  domain_.data().thread_hint = 255;
  EXPECT_EQ(claim(0), 255u);
  EXPECT_EQ(slots()[0].tid, dead);
}

// Without a pid there is no telling who lives.
TEST_F(ThreadSlotsTest, AThreadOfAnotherNamespaceTakesNothingBack) {
  fill_all_with(dead_process(), dead_process());
  EXPECT_EQ(claim(0), kMaxThreads);
  slots()[9].tid = 0;
  EXPECT_EQ(claim(0), 9u);
  EXPECT_EQ(slots()[9].pid, 0u);
}

TEST_F(ThreadSlotsTest, AForkedChildsSlotIsItsOwnAndFreeOnceItIsGone) {
  claim();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(claim() == 1 ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(slots()[1].pid, static_cast<std::uint32_t>(child));
  EXPECT_EQ(free_dead_thread_slots(domain_.data(), 0), 1u);
  EXPECT_EQ(slots()[0].tid, own_tid());
}

TEST_F(ThreadSlotsTest, ThreadsAtOnceGetASlotEach) {
  constexpr std::uint32_t kThreads = 8;
  constexpr std::uint32_t kEach = 100;
  std::vector<std::vector<std::uint32_t>> taken(kThreads);
  std::atomic<std::uint32_t> ready = 0;
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      for (std::uint32_t n = 0; n < kEach; ++n) taken[i].push_back(claim(0));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::uint32_t> all;
  for (const auto& some : taken) all.insert(some.begin(), some.end());
  EXPECT_EQ(all.size(), kThreads * kEach);
  EXPECT_LT(*all.rbegin(), domain_.data().thread_high);
}

}  // namespace
}  // namespace landtrace::plan
