// What triggers and filters do to events, through the owner's own place in the data plane.
#include "domain/test_users.hpp"
#include "rules/triggers.hpp"
#include "rules/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "rules/filters.hpp"
#include "base/test_wait.hpp"
#include "domain/proxy.hpp"
#include "ring/reader.hpp"

namespace landtrace::rules {
namespace {

using domain::FileId;
using domain::Proxy;

using testing::ElementsAre;
using testing::IsEmpty;

class TriggersTest : public testing::Test {
 protected:
  TriggersTest() : domain_(*Domain::create({.ring_bytes = 1 << 18})), proxy_(*domain_) {
    file_ = *domain_->registrar().open_file(kUser);
    first_ = make("first u32 n");
    second_ = make("second u32 n");
  }

  Event* make(const char* declaration) {
    Event* const event = domain_->events().register_event(declaration, 0, kUser)->event;
    EXPECT_TRUE(domain_->files().add_event(file_, *event));
    return event;
  }
  // Event 0 is the first, event 1 the second.
  ssize_t write(std::uint32_t event, std::uint32_t n, std::uint32_t uid = kUser, std::uint32_t tid = 7) {
    const std::uint32_t words[] = {event, n};
    const iovec vector{const_cast<std::uint32_t*>(words), sizeof words};
    return proxy_.write(file_, tid, uid, std::span(&vector, 1));
  }
  int apply(Event* event, const char* text) {
    const auto applied = rules_.triggers().apply(top(), *event, text);
    return applied ? 0 : applied.error().error.code;
  }
  void enable(Event* event) { ASSERT_TRUE(domain_->listening().set(top(), {event}, true)); }
  std::vector<std::uint32_t> recorded() {
    std::vector<std::uint32_t> numbers;
    const auto& place = top().place;
    for (const User& user : domain_->users().all()) {
      for (std::uint32_t i = 0; i < domain_->instances().rings_per_set(); ++i) {
        ring::Reader reader(user.mapping.data() + place.rings + i * place.geometry.stride(), place.geometry);
        for (const ring::RecordView& record : reader.read().records) {
          std::uint32_t n = 0;
          std::memcpy(&n, record.payload.data(), sizeof n);
          numbers.push_back(n);
        }
      }
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }
  Instance& top() { return domain_->top(); }

  std::unique_ptr<Domain> domain_;
  Rules rules_{*domain_};
  Proxy proxy_;
  FileId file_;
  Event* first_ = nullptr;
  Event* second_ = nullptr;
};

TEST_F(TriggersTest, AnUnconditionalTraceonComesBeforeItsEventAConditionalOneBehindIt) {
  enable(first_);
  domain_->instances().set_tracing(top(), false);
  ASSERT_EQ(apply(first_, "traceon"), 0);
  write(0, 1);
  EXPECT_THAT(recorded(), ElementsAre(1));
  ASSERT_EQ(apply(first_, "!traceon"), 0);
  domain_->instances().set_tracing(top(), false);
  ASSERT_EQ(apply(first_, "traceon if n == 2"), 0);
  write(0, 2);
  write(0, 3);
  EXPECT_THAT(recorded(), ElementsAre(1, 3));
}

TEST_F(TriggersTest, TheLastEventBeforeTraceoffIsRecorded) {
  enable(first_);
  enable(second_);
  ASSERT_EQ(apply(first_, "traceoff"), 0);
  write(1, 1);
  write(0, 2);
  write(1, 3);
  EXPECT_THAT(recorded(), ElementsAre(1, 2));
  EXPECT_FALSE(domain_->instances().is_tracing(top()));
}

TEST_F(TriggersTest, TriggersRunWhateverTheEventsOwnFilterAndThreadListsSay) {
  enable(first_);
  enable(second_);
  ASSERT_TRUE(rules_.filters().set(top(), *first_, "n == 100"));
  ASSERT_TRUE(domain_->thread_lists().set(top(), std::vector<std::uint32_t>{9}, {}));
  ASSERT_EQ(apply(first_, "disable_event:user_events:second"), 0);
  write(0, 1);
  write(1, 2, kUser, 9);
  EXPECT_THAT(recorded(), IsEmpty());
}

TEST_F(TriggersTest, ATriggerThatLooksAtTheEventKeepsAllOfItsTriggersFromOtherThreads) {
  enable(first_);
  enable(second_);
  ASSERT_TRUE(domain_->thread_lists().set(top(), std::vector<std::uint32_t>{9}, {}));
  ASSERT_EQ(apply(first_, "disable_event:user_events:second"), 0);
  ASSERT_EQ(apply(first_, "traceoff"), 0);
  write(0, 1);
  write(1, 2, kUser, 9);
  EXPECT_THAT(recorded(), ElementsAre(2));
  write(0, 3, kUser, 9);
  write(1, 4, kUser, 9);
  EXPECT_THAT(recorded(), ElementsAre(2, 3));
  EXPECT_FALSE(domain_->instances().is_tracing(top()));
}

TEST_F(TriggersTest, AnEventMaySwitchItself) {
  enable(first_);
  ASSERT_EQ(apply(first_, "disable_event:user_events:first if n == 2"), 0);
  for (std::uint32_t n = 1; n <= 3; ++n) write(0, n);
  // Switched off before it is recorded, as its trigger has looked at it first.
  EXPECT_THAT(recorded(), ElementsAre(1));
  ASSERT_EQ(apply(first_, "!disable_event:user_events:first"), 0);
  EXPECT_FALSE(domain_->listening().is_recorded(top(), *first_));
}

TEST_F(TriggersTest, AnEventIsEnabledForItsTriggersAndOffWhenTheyGo) {
  EXPECT_EQ(write(0, 1), -EBADF);
  ASSERT_EQ(apply(first_, "enable_event:user_events:second:1"), 0);
  EXPECT_EQ(write(1, 2), 8);
  EXPECT_EQ(write(0, 3), 8);
  EXPECT_EQ(write(1, 4), 8);
  EXPECT_THAT(recorded(), ElementsAre(4));
  ASSERT_EQ(apply(first_, "!enable_event:user_events:second"), 0);
  EXPECT_EQ(write(0, 5), -EBADF);
  EXPECT_EQ(write(1, 6), 8);  // it was switched on
  EXPECT_TRUE(domain_->listening().is_recorded(top(), *second_));
}

TEST_F(TriggersTest, AnEventMaySwitchManyOthersAndEndTheTrace) {
  constexpr int kTargets = 100;
  enable(first_);
  ASSERT_EQ(apply(first_, "traceoff if n == 1"), 0);
  for (int i = 0; i < kTargets; ++i) {
    const std::string name = "target" + std::to_string(i);
    make(name.c_str());
    ASSERT_EQ(apply(first_, ("enable_event:user_events:" + name + " if n == 2").c_str()), 0);
  }
  const auto switched_on = [&] {
    int count = 0;
    for (int i = 0; i < kTargets; ++i) {
      const Event* const target = domain_->events().find("user_events", "target" + std::to_string(i));
      if (domain_->listening().is_recorded(top(), *target)) ++count;
    }
    return count;
  };
  write(0, 1);
  EXPECT_FALSE(domain_->instances().is_tracing(top()));
  EXPECT_EQ(switched_on(), 0);
  write(0, 2);
  EXPECT_EQ(switched_on(), kTargets);
}

TEST_F(TriggersTest, ACountIsUsedUpBySwitchingOnly) {
  enable(first_);
  ASSERT_EQ(apply(first_, "traceoff:2"), 0);
  write(0, 1);
  write(0, 2);  // it is off already
  EXPECT_EQ(rules_.triggers().text(top(), *first_), "traceoff:count=1\n");
  domain_->instances().set_tracing(top(), true);
  write(0, 3);
  domain_->instances().set_tracing(top(), true);
  write(0, 4);
  EXPECT_TRUE(domain_->instances().is_tracing(top()));
  EXPECT_EQ(rules_.triggers().text(top(), *first_), "traceoff:count=0\n");
}

TEST_F(TriggersTest, WhatOneUsersProgramSwitchesReachesTheOthers) {
  enable(first_);
  enable(second_);
  write(1, 1, kOtherUser);
  ASSERT_EQ(apply(first_, "traceoff:3"), 0);
  write(0, 2);
  const auto is_recorded = [&] {
    const std::size_t before = recorded().size();
    write(1, 3, kOtherUser);
    return recorded().size() > before;
  };
  EXPECT_TRUE(comes_true([&] { return !is_recorded(); }));
  domain_->instances().set_tracing(top(), true);
  EXPECT_TRUE(is_recorded());
  // The count is one for all.
  write(0, 4, kOtherUser);
  EXPECT_EQ(rules_.triggers().text(top(), *first_), "traceoff:count=1\n");
  EXPECT_FALSE(domain_->instances().is_tracing(top()));
}

TEST_F(TriggersTest, AUserWhoComesLaterFindsWhatWasSwitched) {
  enable(first_);
  ASSERT_EQ(apply(first_, "traceoff"), 0);
  write(0, 1);
  write(0, 2, kOtherUser);
  EXPECT_THAT(recorded(), ElementsAre(1));
}

TEST_F(TriggersTest, AThrowFromTheFutureDoesNotOutlastTheOwnersNext) {
  enable(first_);
  ASSERT_EQ(apply(first_, "traceoff if n == 77"), 0);
  write(0, 1);
  plan::Cell& cell = domain_->users().all()[0].data().cells[top().stop_switch];
  cell.own = ~0ull;
  EXPECT_FALSE(domain_->instances().is_tracing(top()));
  domain_->instances().set_tracing(top(), true);
  EXPECT_TRUE(domain_->instances().is_tracing(top()));
  write(0, 2);
  EXPECT_THAT(recorded(), ElementsAre(1, 2));
}

TEST_F(TriggersTest, AnEventThatGoesTakesItsFilterAlong) {
  const std::uint64_t before = domain_->control().bytes_in_use();
  Event* const passing = domain_->events().register_event("passing u32 n", 0, kUser)->event;
  ASSERT_TRUE(rules_.filters().set(top(), *passing, "n == 1 || n == 2"));
  ASSERT_TRUE(domain_->registrar().remove_event("passing", kUser));
  domain_->grace().drain(std::chrono::seconds(1));
  EXPECT_LE(domain_->control().bytes_in_use(), before + 256);  // its texts stay for the records in the rings
}

TEST_F(TriggersTest, AnInstanceThatGoesLetsItsEventsGo) {
  Instance& instance = **domain_->instances().create("other", top().place.geometry, true, true);
  ASSERT_TRUE(rules_.triggers().apply(instance, *first_, "enable_event:user_events:second"));
  EXPECT_TRUE(second_->in_use());
  EXPECT_TRUE(second_->listeners.any());
  domain::destroy_instance(instance.index, domain_->listening(), domain_->instances());
  EXPECT_FALSE(first_->listeners.any());
  EXPECT_FALSE(second_->listeners.any());
}

TEST_F(TriggersTest, WhatCannotBeHadIsSaid) {
  EXPECT_EQ(apply(first_, "snapshot"), EINVAL);  // nobody keeps a snapshot of this instance
  EXPECT_EQ(apply(first_, "traceoff if nosuch == 1"), EINVAL);
  const auto refused = rules_.triggers().apply(top(), *first_, "traceoff if nosuch == 1");
  ASSERT_TRUE(refused.error().filter);
  EXPECT_EQ(refused.error().expression, "nosuch == 1");
  EXPECT_FALSE(first_->listeners.any());
}

TEST_F(TriggersTest, ChildrenOfListedThreadsAreListedWithEventFork) {
  enable(first_);
  const auto me = static_cast<std::uint32_t>(::gettid());
  domain_->thread_lists().follow_forks(top(), true);
  ASSERT_TRUE(domain_->thread_lists().set(top(), std::vector<std::uint32_t>{me}, {}));
  if (!domain_->thread_lists().is_following()) GTEST_SKIP() << "the kernel does not tell us of forks here";
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char end;
    std::ignore = ::read(pipe[0], &end, 1);
    ::_exit(0);
  }
  write(0, 1, kUser, static_cast<std::uint32_t>(child));
  write(0, 2, kUser, 1);
  EXPECT_THAT(recorded(), ElementsAre(1));
  EXPECT_THAT(*top().threads.only, testing::Contains(static_cast<std::uint32_t>(child)));
  std::ignore = ::write(pipe[1], "", 1);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(comes_true([&] {
    domain_->thread_lists().catch_up();
    return top().threads.only->size() == 1;
  }));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

}  // namespace
}  // namespace landtrace::rules
