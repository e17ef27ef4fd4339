#include "programs/patient_worker.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <future>

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
