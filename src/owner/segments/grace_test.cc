// When what was replaced is freed: the readers are slots that the test fills in, as if threads of producers did.
#include "segments/grace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

#include "plan/section.hpp"

namespace landtrace::segments {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kInside = 1;
constexpr std::uint64_t kNextSection = plan::kDepthMask + 1;
constexpr std::uint32_t kNobody = 0x3fffff;  // a number that no thread has

class GraceTest : public testing::Test {
 protected:
  GraceTest() {
    // Sparse: a data segment has room for many threads.
    for (const std::uint32_t uid : {1000u, 1001u}) EXPECT_TRUE(users_.find_or_create(uid));
  }
  plan::ThreadSlot& slot(std::uint32_t user, std::uint32_t index) {
    plan::DataSegment& data = users_.all()[user].data();
    data.thread_high = std::max(data.thread_high, index + 1);
    return data.threads[index];
  }
  // A thread that lives, at `section`.
  plan::ThreadSlot& reader(std::uint32_t user, std::uint32_t index, std::uint64_t section = kInside) {
    plan::ThreadSlot& reader = slot(user, index);
    reader.tid = static_cast<std::uint32_t>(::gettid());
    reader.pid = static_cast<std::uint32_t>(::getpid());
    reader.section = section;
    return reader;
  }
  void free_later(int what) {
    grace_.after_readers([this, what] { freed_.push_back(what); });
  }

  Users users_{sizeof(plan::DataSegment) + (1 << 20)};
  Grace grace_{users_};
  std::vector<int> freed_;
  const Grace::Clock::time_point now_ = Grace::Clock::now();  // for those whose patience is not to end meanwhile
};

TEST_F(GraceTest, WithNobodyInsideItIsFreedAtOnceAndInOrder) {
  EXPECT_FALSE(grace_.is_waiting());
  EXPECT_FALSE(grace_.poll());
  free_later(1), free_later(2), free_later(3);
  EXPECT_TRUE(grace_.is_waiting());
  EXPECT_THAT(freed_, IsEmpty()) << "but not before somebody looks";
  EXPECT_FALSE(grace_.poll());
  EXPECT_THAT(freed_, ElementsAre(1, 2, 3));
  EXPECT_FALSE(grace_.is_waiting());
}

TEST_F(GraceTest, AReaderInsideDelaysIt) {
  plan::ThreadSlot& inside = reader(0, 0);
  free_later(1);
  EXPECT_TRUE(grace_.poll());
  EXPECT_TRUE(grace_.poll());
  EXPECT_THAT(freed_, IsEmpty());
  inside.section = kNextSection;
  EXPECT_FALSE(grace_.poll());
  EXPECT_THAT(freed_, ElementsAre(1));
}

// What its slot says may be older than what it does.
TEST_F(GraceTest, AThreadThatTheBarriersDoNotReachDelaysItWhereverItSeemsToBe) {
  plan::ThreadSlot& outside = reader(0, 0, kNextSection);
  outside.unregistered = 1;
  free_later(1);
  EXPECT_TRUE(grace_.poll());
  outside.section = 2 * kNextSection;
  EXPECT_TRUE(grace_.poll());
  outside.unregistered = 0;
  EXPECT_FALSE(grace_.poll());
  EXPECT_THAT(freed_, ElementsAre(1));
}

TEST_F(GraceTest, AThreadThatIsInsideWhenTheBarriersReachItIsWaitedFor) {
  plan::ThreadSlot& inside = reader(0, 0, 0);
  inside.unregistered = 1;
  free_later(1);
  EXPECT_TRUE(grace_.poll());
  inside.section = kInside;
  inside.unregistered = 0;
  EXPECT_TRUE(grace_.poll());
  EXPECT_TRUE(grace_.poll());
  EXPECT_THAT(freed_, IsEmpty());
  inside.section = kNextSection;
  EXPECT_FALSE(grace_.poll());
  EXPECT_THAT(freed_, ElementsAre(1));
}

TEST_F(GraceTest, AReaderThatHasLeftAndComeAgainHoldsNothingOld) {
  plan::ThreadSlot& inside = reader(0, 0);
  free_later(1);
  EXPECT_TRUE(grace_.poll());
  inside.section = kNextSection + kInside;
  EXPECT_FALSE(grace_.poll());
  EXPECT_THAT(freed_, ElementsAre(1));
}

TEST_F(GraceTest, ASignalHandlerInsideASectionChangesNothing) {
  plan::ThreadSlot& inside = reader(0, 0);
  free_later(1);
  EXPECT_TRUE(grace_.poll());
  inside.section = kInside + 1;  // one deeper
  EXPECT_TRUE(grace_.poll());
  inside.section = kInside;
  EXPECT_TRUE(grace_.poll());
  EXPECT_THAT(freed_, IsEmpty());
  inside.section = kNextSection;
  EXPECT_FALSE(grace_.poll());
}

TEST_F(GraceTest, EveryReaderOfEveryUserIsWaitedFor) {
  plan::ThreadSlot *const one = &reader(0, 7), *const other = &reader(1, 3000);
  reader(0, 8, kNextSection);
  free_later(1);
  EXPECT_TRUE(grace_.poll());
  one->section = kNextSection;
  EXPECT_TRUE(grace_.poll());
  EXPECT_THAT(freed_, IsEmpty());
  other->section = kNextSection;
  EXPECT_FALSE(grace_.poll());
  EXPECT_THAT(freed_, ElementsAre(1));
}

TEST_F(GraceTest, WhoComesInLaterIsNotWaitedFor) {
  plan::ThreadSlot& early = reader(0, 0);
  free_later(1);
  EXPECT_TRUE(grace_.poll(now_));
  plan::ThreadSlot& late = reader(0, 1);
  free_later(2);
  EXPECT_TRUE(grace_.poll(now_));
  EXPECT_EQ(grace_.batches(), 2u);
  early.section = kNextSection;
  EXPECT_TRUE(grace_.poll(now_));
  EXPECT_THAT(freed_, ElementsAre(1));
  late.section = kNextSection;
  EXPECT_FALSE(grace_.poll(now_));
  EXPECT_THAT(freed_, ElementsAre(1, 2));
}

TEST_F(GraceTest, NothingIsFreedBeforeWhatWasReplacedEarlier) {
  plan::ThreadSlot& early = reader(0, 0);
  free_later(1);
  EXPECT_TRUE(grace_.poll());
  early.section = kNextSection;
  plan::ThreadSlot& again = reader(0, 1);
  early.section = kInside;  // as if it had not moved
  free_later(2);
  EXPECT_TRUE(grace_.poll());
  again.section = kNextSection;
  EXPECT_TRUE(grace_.poll());
  EXPECT_THAT(freed_, IsEmpty());
  early.section = kNextSection;
  EXPECT_FALSE(grace_.poll());
  EXPECT_THAT(freed_, ElementsAre(1, 2));
}

TEST_F(GraceTest, AReaderThatHasDiedDelaysNothing) {
  plan::ThreadSlot& dead = reader(0, 0);
  dead.tid = dead.pid = kNobody;
  free_later(1);
  EXPECT_FALSE(grace_.poll());
  EXPECT_THAT(freed_, ElementsAre(1));
}

TEST_F(GraceTest, ASlotThatIsNobodysDelaysNothing) {
  reader(0, 0).tid = 0;
  free_later(1);
  EXPECT_FALSE(grace_.poll());
  EXPECT_THAT(freed_, ElementsAre(1));
}

TEST_F(GraceTest, WhatWaitsForAnInventedReaderStaysBounded) {
  plan::ThreadSlot& invented = reader(0, 0);
  for (int i = 0; i < 1000; ++i) {
    free_later(i);
    EXPECT_TRUE(grace_.poll(now_));
  }
  EXPECT_EQ(grace_.batches(), 4u);
  EXPECT_THAT(freed_, IsEmpty());
  invented.section = kNextSection;
  EXPECT_FALSE(grace_.poll(now_));
  EXPECT_EQ(freed_.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(freed_.begin(), freed_.end()));
}

TEST_F(GraceTest, WhatWaitsIsCountedForThoseItIsNamedFor) {
  plan::ThreadSlot& inside = reader(0, 0);
  grace_.after_readers([] {}, Holders::these({1000}));
  grace_.after_readers([] {}, Holders::these({1000, 1001}));
  free_later(1);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(grace_.waiting_of(1000), 2u);
    EXPECT_EQ(grace_.waiting_of(1001), 1u);
    EXPECT_EQ(grace_.held_by(1000), 0u) << "nobody is late";
    grace_.poll(now_);
  }
  inside.section = kNextSection;
  EXPECT_TRUE(grace_.drain(std::chrono::seconds(60)));
  EXPECT_EQ(grace_.waiting_of(1000), 0u);
  EXPECT_EQ(grace_.waiting_of(1001), 0u);
}

// A program that is stopped in an event, or a user who pretends that one is.
class LateReaderTest : public GraceTest {
 protected:
  LateReaderTest() {
    free_later(0);
    while (grace_.batches() > 0 || grace_.has_fresh()) {
      grace_.poll();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_THAT(freed_, IsEmpty());
  }
  void free_later_of(std::uint32_t uid, int what) {
    grace_.after_readers([this, what] { freed_.push_back(what); }, Holders::these({uid}));
  }
  plan::ThreadSlot& late_ = reader(0, 3);  // uid 1000
};

TEST_F(LateReaderTest, DelaysItsOwnUsersMemoryForAsLongAsItTakes) {
  free_later_of(1000, 1);
  EXPECT_TRUE(grace_.poll());
  EXPECT_TRUE(grace_.poll());
  EXPECT_THAT(freed_, IsEmpty());
  late_.section = kNextSection;
  EXPECT_TRUE(grace_.drain(std::chrono::seconds(60)));
  EXPECT_THAT(freed_, testing::UnorderedElementsAre(0, 1));
}

TEST_F(LateReaderTest, DelaysNobodyElsesAtAll) {
  for (int i = 1; i <= 3; ++i) {
    free_later_of(1001, i);
    grace_.poll();
    EXPECT_EQ(freed_.size(), static_cast<std::size_t>(i)) << "at once";
  }
  EXPECT_EQ(grace_.held_by(1000), 1u);
  EXPECT_EQ(grace_.waiting_of(1000), 1u);
  EXPECT_EQ(grace_.held_by(1001), 0u);
}

TEST_F(LateReaderTest, TakingTurnsGainsItAMomentOnly) {
  plan::ThreadSlot& next = reader(0, 4);
  late_.section = kNextSection;
  free_later_of(1001, 1);
  const auto start = std::chrono::steady_clock::now();
  while (std::find(freed_.begin(), freed_.end(), 1) == freed_.end()) {
    ASSERT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
    grace_.poll();
  }
  EXPECT_EQ(next.section, kInside) << "its user was inside all the time";
}

TEST_F(LateReaderTest, ThoseOfItsUserThatAreInTimeAreWaitedFor) {
  plan::ThreadSlot& other = reader(1, 0);
  free_later_of(1000, 1);
  free_later_of(1001, 2);
  grace_.poll();
  EXPECT_THAT(freed_, IsEmpty());
  other.section = kNextSection;
  grace_.poll();
  EXPECT_THAT(freed_, ElementsAre(2));
}

TEST_F(LateReaderTest, OfItsOwnMemoryNothingIsKeptThatSomebodyNeeds) {
  grace_.after_readers([this] { freed_.push_back(1); }, Holders::of_own_memory());
  free_later_of(1000, 2);
  grace_.poll();
  EXPECT_THAT(freed_, IsEmpty());
  EXPECT_TRUE(grace_.give_way());
  EXPECT_THAT(freed_, ElementsAre(1));
  EXPECT_FALSE(grace_.give_way()) << "that was all";
  EXPECT_EQ(grace_.held_by(1000), 2u);
  EXPECT_TRUE(grace_.give_way_entirely());
  EXPECT_EQ(freed_.size(), 3u);
  EXPECT_FALSE(grace_.poll());
  late_.section = kNextSection;
  EXPECT_FALSE(grace_.poll());
  EXPECT_EQ(freed_.size(), 3u) << "each once";
}

TEST_F(LateReaderTest, WhoseProgramsHoldMostGivesWayFirst) {
  reader(1, 0);
  free_later_of(1001, 1);
  while (grace_.held_by(1001) == 0) grace_.poll(), std::this_thread::sleep_for(std::chrono::milliseconds(1));
  free_later_of(1001, 2), free_later_of(1001, 3), free_later_of(1001, 4);
  free_later_of(1000, 5);
  free_later(6);  // both may hold it
  grace_.poll();
  EXPECT_TRUE(grace_.give_way_entirely());
  EXPECT_THAT(freed_, ElementsAre(1, 2, 3, 4));
  EXPECT_TRUE(grace_.give_way_entirely());
  EXPECT_THAT(freed_, ElementsAre(1, 2, 3, 4, 0, 5));
  EXPECT_TRUE(grace_.give_way_entirely());
  EXPECT_EQ(freed_.back(), 6);
  EXPECT_FALSE(grace_.give_way_entirely());
}

TEST_F(LateReaderTest, SoMuchWaitsForItsUserAndNoMore) {
  while (grace_.waiting_of(1000) < Grace::kMaxWaiting) {
    ASSERT_TRUE(grace_.check_room(1000));
    free_later_of(1000, 1);
  }
  ASSERT_FALSE(grace_.check_room(1000));
  EXPECT_EQ(grace_.check_room(1000).error().code, ENOSPC);
  EXPECT_TRUE(grace_.check_room(1001));
  late_.section = kNextSection;
  EXPECT_TRUE(grace_.check_room(1000));
}

TEST_F(LateReaderTest, WhatTwoLateUsersMayHoldWaitsForBoth) {
  plan::ThreadSlot& other = reader(1, 0);
  free_later_of(1001, 1);
  while (grace_.held_by(1001) == 0) grace_.poll(), std::this_thread::sleep_for(std::chrono::milliseconds(1));
  grace_.after_readers([this] { freed_.push_back(2); }, Holders::these({1000, 1001}));
  grace_.poll();
  late_.section = kNextSection;
  for (int i = 0; i < 5; ++i) grace_.poll();
  EXPECT_THAT(freed_, ElementsAre(0));
  other.section = kNextSection;
  EXPECT_TRUE(grace_.drain(std::chrono::seconds(60)));
  EXPECT_EQ(freed_.size(), 3u);
}

TEST_F(LateReaderTest, SettlingDoesNotWaitForIt) {
  grace_.settle(std::chrono::hours(1));
  EXPECT_TRUE(grace_.is_waiting());
}

TEST_F(GraceTest, OursAreWaitedForHoweverLongTheyTakeAndNoUserCanDenyThem) {
  plan::ThreadSlot& own = grace_.take_own_slot();
  own.section = kInside;
  grace_.after_readers([this] { freed_.push_back(1); }, Holders::these({}));
  grace_.poll();
  std::this_thread::sleep_for(kPatience + std::chrono::milliseconds(50));
  EXPECT_TRUE(grace_.poll());
  EXPECT_THAT(freed_, IsEmpty());
  own.section = kNextSection;
  EXPECT_FALSE(grace_.poll());
  EXPECT_THAT(freed_, ElementsAre(1));
  Grace::give_back(own);
  EXPECT_EQ(&grace_.take_own_slot(), &own);
}

TEST_F(GraceTest, AUserCannotMakeTheOwnerLookBeyondItsSegment) {
  users_.all()[0].data().thread_high = ~0u;
  reader(1, plan::kMaxThreads - 1);
  free_later(1);
  EXPECT_TRUE(grace_.poll());
  reader(1, plan::kMaxThreads - 1, kNextSection);
  EXPECT_FALSE(grace_.poll());
}

TEST_F(GraceTest, ADrainWaitsUntilTheReaderHasLeft) {
  plan::ThreadSlot& inside = reader(0, 0);
  free_later(1);
  EXPECT_FALSE(grace_.drain(std::chrono::milliseconds(1)));
  EXPECT_THAT(freed_, IsEmpty());
  std::thread leaves([&] { __atomic_store_n(&inside.section, kNextSection, __ATOMIC_RELEASE); });
  EXPECT_TRUE(grace_.drain(std::chrono::seconds(60)));
  leaves.join();
  EXPECT_THAT(freed_, ElementsAre(1));
  EXPECT_TRUE(grace_.drain(std::chrono::milliseconds(0))) << "nothing waits";
}

TEST_F(GraceTest, WhatIsFreedMayReplaceSomethingItself) {
  grace_.after_readers([this] {
    freed_.push_back(1);
    free_later(2);
  });
  EXPECT_TRUE(grace_.poll());
  EXPECT_THAT(freed_, ElementsAre(1));
  EXPECT_FALSE(grace_.poll());
  EXPECT_THAT(freed_, ElementsAre(1, 2));
}

// The other half, as producers have it: what they hold is not freed under them.
TEST_F(GraceTest, NoThreadSeesWhatWasFreed) {
  std::atomic<int*> published = new int(0);
  std::atomic<bool> is_over = false;
  std::atomic<int> torn = 0, seen = 0;
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < 2; ++i) {
    plan::ThreadSlot& mine = slot(i, i);
    threads.emplace_back([&] {
      mine.tid = static_cast<std::uint32_t>(::gettid());
      mine.pid = static_cast<std::uint32_t>(::getpid());
      while (!is_over) {
        const plan::Section section(mine);
        if (*published.load(std::memory_order_acquire) < 0) ++torn;
        ++seen;
      }
    });
  }
  while (seen < 100) std::this_thread::yield();
  std::vector<std::unique_ptr<int>> old;  // what was freed, which says so
  for (int i = 1; i < 2000; ++i) {
    old.emplace_back(published.exchange(new int(i)));
    grace_.after_readers([what = old.back().get()] { *static_cast<volatile int*>(what) = -1; });
    grace_.poll();
  }
  EXPECT_TRUE(grace_.drain(std::chrono::seconds(60)));
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(torn, 0);
  delete published.load();
}

}  // namespace
}  // namespace landtrace::segments
