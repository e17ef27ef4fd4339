// The lists of threads whose events an instance takes, and how they follow forks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "base/test_thread.hpp"
#include "domain/domain.hpp"
#include "domain/test_serving.hpp"

namespace landtrace::domain {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

class ThreadListsTest : public testing::Test {
 protected:
  // What producers see of the lists.
  std::vector<std::uint32_t> published(const Instance& instance) {
    if (instance.threads.published == 0) return {};
    const auto* const words = reinterpret_cast<const std::uint32_t*>(domain_->control().at(instance.threads.published));
    const std::uint32_t only = words[0] == plan::ThreadList::kEverybody ? 0 : words[0];
    return {words, words + 2 + only + words[1]};
  }
  Instance& top() { return domain_->top(); }

  std::unique_ptr<Domain> domain_ = *Domain::create({.ring_bytes = 1 << 18});
};

TEST_F(ThreadListsTest, ListsArePublishedInOrder) {
  constexpr std::uint32_t kEverybody = plan::ThreadList::kEverybody;
  ASSERT_TRUE(domain_->thread_lists().set(top(), {{30, 10, 20}}, {{5, 4}}));
  EXPECT_THAT(published(top()), ElementsAre(3, 2, 10, 20, 30, 4, 5));
  EXPECT_THAT(*top().threads.only, ElementsAre(10, 20, 30));
  ASSERT_TRUE(domain_->thread_lists().set(top(), std::nullopt, {{7}}));
  EXPECT_THAT(published(top()), ElementsAre(kEverybody, 1, 7));
  ASSERT_TRUE(domain_->thread_lists().set(top(), std::vector<std::uint32_t>{}, std::nullopt));
  EXPECT_THAT(published(top()), ElementsAre(0, 0)) << "nobody is not everybody";
  ASSERT_TRUE(domain_->thread_lists().set(top(), std::nullopt, std::nullopt));
  EXPECT_EQ(top().threads.published, 0u);
  EXPECT_FALSE(top().threads.is_set());
}

class FollowedForksTest : public ThreadListsTest {
 protected:
  void SetUp() override {
    if (!programs::ThreadEvents::subscribe()) GTEST_SKIP() << "SKIPPED: process events are not told here";
  }
  // The kernel tells of an end after those who wait for it have gone on.
  void catch_up_with_the_end_of(std::uint32_t thread) {
    for (int i = 0; i < 10'000; ++i, ::usleep(1000)) {
      domain_->thread_lists().catch_up();
      if (!std::binary_search(top().threads.only->begin(), top().threads.only->end(), thread)) return;
    }
  }
  ToldServingThread serving_{*domain_};
};

TEST_F(FollowedForksTest, TheKernelIsListenedToWhileSomebodyFollowsAList) {
  EXPECT_EQ(domain_->thread_lists().events_fd(), -1);
  domain_->thread_lists().follow_forks(top(), true);
  EXPECT_FALSE(domain_->thread_lists().is_following()) << "there is no list";
  ASSERT_TRUE(domain_->thread_lists().set(top(), {{this_thread()}}, std::nullopt));
  EXPECT_TRUE(domain_->thread_lists().is_following());
  EXPECT_GE(domain_->thread_lists().events_fd(), 0);
  EXPECT_EQ(serving_.wakes, 1) << "whoever serves the domain has one more descriptor to wait for";
  ASSERT_TRUE(domain_->thread_lists().set(top(), {{this_thread()}}, {{1}}));
  EXPECT_EQ(serving_.wakes, 1);
  domain_->thread_lists().follow_forks(top(), false);
  EXPECT_FALSE(domain_->thread_lists().is_following());
  EXPECT_EQ(domain_->thread_lists().events_fd(), -1);
  EXPECT_EQ(serving_.wakes, 2);
  domain_->thread_lists().follow_forks(top(), true);
  EXPECT_TRUE(domain_->thread_lists().is_following());
  ASSERT_TRUE(domain_->thread_lists().set(top(), std::nullopt, std::nullopt));
  EXPECT_FALSE(domain_->thread_lists().is_following());
}

TEST_F(FollowedForksTest, WhatAListedThreadMakesIsListedUntilItEnds) {
  domain_->thread_lists().follow_forks(top(), true);
  ASSERT_TRUE(domain_->thread_lists().set(top(), {{this_thread()}}, {{this_thread(), 1}}));
  WaitingThread thread;
  pollfd waiting{domain_->thread_lists().events_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 1);
  domain_->thread_lists().catch_up();
  EXPECT_THAT(*top().threads.only, Contains(thread.tid()));
  EXPECT_THAT(*top().threads.never, Contains(thread.tid()));
  EXPECT_THAT(published(top()), Contains(thread.tid()));
  EXPECT_TRUE(std::is_sorted(top().threads.never->begin(), top().threads.never->end()));
  const std::uint32_t ended = thread.tid();
  thread.end();
  catch_up_with_the_end_of(ended);
  EXPECT_THAT(*top().threads.only, ElementsAre(this_thread()));
  EXPECT_THAT(*top().threads.never, ElementsAre(1, this_thread()));
}

TEST_F(FollowedForksTest, AProcessThatAListedThreadForksIsListed) {
  domain_->thread_lists().follow_forks(top(), true);
  ASSERT_TRUE(domain_->thread_lists().set(top(), {{this_thread()}}, std::nullopt));
  const pid_t child = ::fork();
  if (child == 0) ::pause();
  domain_->thread_lists().catch_up();
  EXPECT_THAT(*top().threads.only, Contains(static_cast<std::uint32_t>(child)));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  catch_up_with_the_end_of(static_cast<std::uint32_t>(child));
  EXPECT_THAT(*top().threads.only, ElementsAre(this_thread()));
}

TEST_F(FollowedForksTest, WhatOthersMakeIsNotListed) {
  domain_->thread_lists().follow_forks(top(), true);
  ASSERT_TRUE(domain_->thread_lists().set(top(), {{0x3fffff}}, std::nullopt));
  const WaitingThread thread;
  domain_->thread_lists().catch_up();
  EXPECT_THAT(*top().threads.only, ElementsAre(0x3fffff));
}

TEST_F(FollowedForksTest, EachInstanceDecidesForItself) {
  Instance& other = **domain_->instances().create("other", ring::Geometry::holding(0), true, true);
  domain_->thread_lists().follow_forks(other, true);
  ASSERT_TRUE(domain_->thread_lists().set(top(), {{this_thread()}}, std::nullopt));
  ASSERT_TRUE(domain_->thread_lists().set(other, {{this_thread()}}, std::nullopt));
  const WaitingThread thread;
  domain_->thread_lists().catch_up();
  EXPECT_THAT(*top().threads.only, Not(Contains(thread.tid())));
  EXPECT_THAT(*other.threads.only, Contains(thread.tid()));
}

}  // namespace
}  // namespace landtrace::domain
