#include "programs/patient_worker.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <limits>
#include <thread>
#include <vector>

namespace landtrace::programs {
namespace {

constexpr auto kLong = std::chrono::seconds(60);
constexpr auto kShort = std::chrono::milliseconds(5);

TEST(PatientWorkerTest, AJobIsDoneInAnotherThreadWhenTheCallReturns) {
  PatientWorker worker;
  pid_t thread = 0, next = 0;
  EXPECT_TRUE(worker.run([&] { thread = ::gettid(); }, kLong));
  EXPECT_NE(thread, 0);
  EXPECT_NE(thread, ::gettid());
  EXPECT_TRUE(worker.run([&] { next = ::gettid(); }, kLong));
  EXPECT_EQ(next, thread) << "the thread stays for the next job";
}

TEST(PatientWorkerTest, AJobThatDoesNotComeBackIsLeftBehindWithItsThread) {
  PatientWorker worker;
  struct Stuck {
    std::promise<void> answer, end;
    std::atomic<pid_t> thread = 0;
  };
  const auto stuck = std::make_shared<Stuck>();
  auto ended = stuck->end.get_future();
  const auto hang = [stuck] {
    stuck->thread = ::gettid();
    stuck->answer.get_future().wait();
    stuck->end.set_value();
  };
  EXPECT_FALSE(worker.run(hang, kShort));
  pid_t next = 0;
  EXPECT_TRUE(worker.run([&] { next = ::gettid(); }, kLong)) << "others are served meanwhile";
  EXPECT_NE(next, stuck->thread);
  stuck->answer.set_value();
  ended.wait();  // the job goes on when it can
  EXPECT_TRUE(worker.run([&] { next = ::gettid(); }, kLong));
  EXPECT_NE(next, stuck->thread) << "and its thread gets no other";
}

TEST(PatientWorkerTest, AJobThatGetsOnIsNotBlockedHoweverLongItTakes) {
  PatientWorker worker;
  PatientWorker::Progress progress = 0;
  std::atomic<bool> is_to_end = false;
  std::vector<int> done;
  worker.post([&] {
    while (!is_to_end) ++progress;
    done.push_back(1);
  });
  worker.post([&] { done.push_back(2); });
  EXPECT_EQ(worker.wait(kShort, kShort * 4, progress), PatientWorker::Outcome::kGoesOn);
  EXPECT_EQ(worker.left_behind(), 0u);
  is_to_end = true;
  worker.post([&] { done.push_back(3); });
  EXPECT_EQ(worker.wait(kLong, kLong, progress), PatientWorker::Outcome::kDone);
  EXPECT_EQ(done, (std::vector{1, 2, 3})) << "it has kept its thread, and what comes next is done behind it";
}

TEST(PatientWorkerTest, WhoeverDoesNotGetOnIsBlocked) {
  PatientWorker worker;
  PatientWorker::Progress progress = 0;
  std::promise<void> answer;
  std::atomic<bool> next_is_done = false;
  worker.post([&] {
    ++progress;
    answer.get_future().wait();
  });
  worker.post([&] { next_is_done = true; });
  EXPECT_EQ(worker.wait(kShort, kLong, progress), PatientWorker::Outcome::kBlocked);
  worker.leave_behind();
  EXPECT_EQ(worker.left_behind(), 1u);
  EXPECT_EQ(worker.wait(kShort, kLong, progress), PatientWorker::Outcome::kDone) << "the next thread has none yet";
  answer.set_value();
  while (worker.left_behind() > 0) std::this_thread::yield();
  EXPECT_TRUE(next_is_done) << "what it had yet to do it does when it comes back";
}

TEST(PatientWorkerTest, WhoeverNobodyWaitsForIsLookedAfter) {
  PatientWorker worker;
  PatientWorker::Progress progress = 0;
  EXPECT_EQ(worker.look(kShort, progress), PatientWorker::Outcome::kDone) << "it has nothing to do";
  std::atomic<bool> is_to_hang = false;
  std::promise<void> answer;
  worker.post([&] {
    for (; !is_to_hang; ++progress) std::this_thread::yield();
    answer.get_future().wait();
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(worker.look(kLong, progress), PatientWorker::Outcome::kGoesOn);
    ::usleep(1000);
  }
  is_to_hang = true;
  EXPECT_EQ(worker.look(kLong, progress), PatientWorker::Outcome::kGoesOn) << "not for so long yet";
  while (worker.look(kShort, progress) != PatientWorker::Outcome::kBlocked) ::usleep(1000);
  answer.set_value();
  while (worker.look(kLong, progress) != PatientWorker::Outcome::kDone) ::usleep(1000);
}

// It takes as much as somebody sees late that it has taken enough: a machine may stand still for a moment, but not each
// time.
TEST(PatientWorkerTest, AJobThatOnlyComputesUsesUpItsPatienceOnce) {
  constexpr auto kPatience = std::chrono::milliseconds(200);
  struct Busy {
    std::atomic<bool> is_to_end = false;
    std::atomic<std::int64_t> used_ns = 0;
  };
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 5 && least >= std::chrono::nanoseconds(kPatience * 5 / 4).count(); ++i) {
    PatientWorker worker;
    const auto busy = std::make_shared<Busy>();
    EXPECT_FALSE(worker.run(
        [busy] {
          while (!busy->is_to_end) {
            timespec used{};
            ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
            busy->used_ns = used.tv_sec * 1'000'000'000 + used.tv_nsec;
          }
        },
        kPatience));
    least = std::min<std::int64_t>(least, busy->used_ns);
    busy->is_to_end = true;
  }
  EXPECT_LT(least, std::chrono::nanoseconds(kPatience * 5 / 4).count());
}

// A thread that has come back, and waits for whatever it is: here for what frees the job.
TEST(PatientWorkerTest, AJobThatIsOverIsWaitedFor) {
  PatientWorker worker;
  std::promise<void> go_on, is_over;
  std::thread later([&] {
    is_over.get_future().wait();
    std::this_thread::sleep_for(kShort * 20);
    go_on.set_value();
  });
  const auto wait = [&](int*) {
    is_over.set_value();
    go_on.get_future().wait();
  };
  EXPECT_TRUE(worker.run([owned = std::shared_ptr<int>(nullptr, wait)] {}, kShort));
  later.join();
}

TEST(PatientWorkerTest, NobodyWaitsAtTheEndForWhatWasLeftBehind) {
  const auto answer = std::make_shared<std::promise<void>>();
  const auto ended = std::make_shared<std::promise<void>>();
  {
    PatientWorker worker;
    EXPECT_FALSE(worker.run(
        [answer, ended] {
          answer->get_future().wait();
          ended->set_value_at_thread_exit();
        },
        kShort));
  }
  answer->set_value();
  ended->get_future().wait();  // the thread has ended, too
}

TEST(PatientWorkerTest, TheThreadEndsWithItsWorker) {
  std::promise<void> ended;
  {
    PatientWorker worker;
    EXPECT_TRUE(worker.run([&] { ended.set_value_at_thread_exit(); }, kLong));
  }
  ended.get_future().wait();
}

TEST(PatientWorkerTest, WhatAJobOwnsGoesWithIt) {
  PatientWorker worker;
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = owned;
  EXPECT_TRUE(worker.run([owned = std::move(owned)] {}, kLong));
  EXPECT_TRUE(worker.run([] {}, kLong));
  EXPECT_TRUE(watch.expired());
}

TEST(PatientWorkerTest, TheThreadTakesNoSignals) {
  PatientWorker worker;
  sigset_t before, inside, after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  EXPECT_TRUE(worker.run([&] { ::pthread_sigmask(SIG_SETMASK, nullptr, &inside); }, kLong));
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (const int signal : {SIGTERM, SIGCHLD, SIGUSR1}) {
    EXPECT_EQ(::sigismember(&inside, signal), 1) << signal;
    EXPECT_EQ(::sigismember(&after, signal), ::sigismember(&before, signal)) << signal;
  }
}

}  // namespace
}  // namespace landtrace::programs
