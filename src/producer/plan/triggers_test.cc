#include "plan/triggers.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "plan/test_domain.hpp"

namespace landtrace::plan {
namespace {

Trigger trigger(TriggerAction action, std::uint32_t target = 0) { return {action, false, 0, target, 0, 0, 0}; }
Trigger late(Trigger trigger) {
  trigger.is_late = true;
  return trigger;
}
Trigger filtered(Trigger trigger, std::uint32_t program) {
  trigger.filter = program;
  return trigger;
}
Trigger limited(Trigger trigger, std::uint32_t count_cell, std::uint64_t limit) {
  trigger.count = count_cell;
  trigger.limit = limit;
  return trigger;
}

class TriggersTest : public testing::Test {
 protected:
  TestDomain domain_;
  std::uint32_t stop_ = domain_.new_cell();   // the instance's
  std::uint32_t off_ = domain_.new_cell();    // the event's own switch
  std::uint32_t other_ = domain_.new_cell();  // another event's
  std::uint32_t counter_ = domain_.new_cell();
  static constexpr bool kConditional = true;

  void publish(const std::vector<Trigger>& list, bool is_conditional = false) {
    domain_.publish(kEvent, {domain_.triggers(list, is_conditional), domain_.record(0, stop_)});
  }
  void publish_with_switch(const std::vector<Trigger>& list, bool is_conditional = false) {
    domain_.publish(kEvent, {domain_.triggers(list, is_conditional, 2), domain_.soft(off_), domain_.record(0, stop_)});
  }
  // How many records of the event itself it left.
  std::size_t happens(std::string_view payload = {}) {
    const std::size_t before = recorded();
    EXPECT_TRUE(domain_.happens(kEvent, payload));
    return recorded() - before;
  }
  [[nodiscard]] std::size_t recorded() const {
    const auto events = domain_.events();
    return static_cast<std::size_t>(std::count(events.begin(), events.end(), kEvent));
  }
  [[nodiscard]] bool thrown(std::uint32_t cell) const { return is_thrown(domain_.cell(cell)); }
};

// -- no trigger looks at the event ------------------------------------------------------------------------------------
TEST_F(TriggersTest, TraceoffStopsTheInstanceBeforeTheEventIsRecorded) {
  publish({trigger(TriggerAction::kTraceOff, stop_)});
  EXPECT_EQ(happens(), 0u);
  EXPECT_TRUE(thrown(stop_));
}

TEST_F(TriggersTest, TraceonStartsItBeforeTheEventIsRecorded) {
  publish({trigger(TriggerAction::kTraceOn, stop_)});
  domain_.set_switch(stop_, true);
  EXPECT_EQ(happens(), 1u);
  EXPECT_FALSE(thrown(stop_));
}

TEST_F(TriggersTest, TriggersRunInTheirOrder) {
  publish({trigger(TriggerAction::kTraceOff, stop_), trigger(TriggerAction::kTraceOn, stop_)});
  EXPECT_EQ(happens(), 1u);
  publish({trigger(TriggerAction::kTraceOn, stop_), trigger(TriggerAction::kTraceOff, stop_)});
  EXPECT_EQ(happens(), 0u);
}

TEST_F(TriggersTest, AnEventSwitchesOthersOnAndOff) {
  publish({trigger(TriggerAction::kDisableEvent, other_)});
  EXPECT_EQ(happens(), 1u);
  EXPECT_TRUE(thrown(other_));
  publish({trigger(TriggerAction::kEnableEvent, other_)});
  EXPECT_EQ(happens(), 1u);
  EXPECT_FALSE(thrown(other_));
}

TEST_F(TriggersTest, AnEventThatSwitchesItselfIsStillWhatItWas) {
  publish_with_switch({trigger(TriggerAction::kDisableEvent, off_)});
  EXPECT_EQ(happens(), 1u);
  EXPECT_EQ(happens(), 0u);
  publish_with_switch({trigger(TriggerAction::kEnableEvent, off_)});
  EXPECT_EQ(happens(), 0u);
  EXPECT_EQ(happens(), 1u);
}

TEST_F(TriggersTest, TriggersRunWhereTheEventIsNotRecorded) {
  const std::vector<std::uint32_t> nobody;
  const Trigger count_it = trigger(TriggerAction::kSnapshot, counter_);
  domain_.publish(kEvent, {domain_.triggers({count_it}, false, 3), domain_.threads(&nobody, {}, 2),
                           domain_.filter(domain_.first_word_is(1)), domain_.record()});
  EXPECT_EQ(happens(bytes_of(1)), 0u);
  EXPECT_EQ(counted(domain_.cell(counter_)), 1u);
  domain_.publish(kEvent, {domain_.triggers({count_it}, false, 3), domain_.threads(nullptr, {}, 2),
                           domain_.filter(domain_.first_word_is(1)), domain_.record()});
  EXPECT_EQ(happens(bytes_of(2)), 0u);
  EXPECT_EQ(happens(bytes_of(1)), 1u);
  EXPECT_EQ(counted(domain_.cell(counter_)), 3u);
}

TEST_F(TriggersTest, TheNextInstanceIsNotTheTriggersBusiness) {
  domain_.publish(kEvent, {domain_.triggers({trigger(TriggerAction::kTraceOff, stop_)}, false, 2), domain_.soft(off_),
                           domain_.record(0, stop_), domain_.record(1)});
  EXPECT_EQ(happens(), 0u);
  EXPECT_EQ(domain_.records(1).size(), 1u);
}

TEST_F(TriggersTest, InTheEventsInstanceAloneTheyRunOnce) {
  publish({trigger(TriggerAction::kSnapshot, counter_)});
  const Section section(domain_.data().threads[0]);
  EXPECT_TRUE(emit_in_instance(domain_.view(), domain_.thread(), 0, kEvent, nullptr, 0, 0));
  EXPECT_EQ(counted(domain_.cell(counter_)), 1u);
  EXPECT_EQ(recorded(), 1u);
}

// -- counts -----------------------------------------------------------------------------------------------------------
TEST_F(TriggersTest, ATriggerHappensAsOftenAsItsLimitSays) {
  const std::uint32_t count_cell = domain_.new_cell();
  publish({limited(trigger(TriggerAction::kSnapshot, counter_), count_cell, 2)});
  for (int i = 0; i < 5; ++i) happens();
  EXPECT_EQ(counted(domain_.cell(counter_)), 2u);
  EXPECT_EQ(counted(domain_.cell(count_cell)), 2u);
}

TEST_F(TriggersTest, ASwitchThatIsWhereItShouldBeIsNotCounted) {
  const std::uint32_t count_cell = domain_.new_cell();
  publish({limited(trigger(TriggerAction::kDisableEvent, other_), count_cell, 2)});
  for (int i = 0; i < 5; ++i) happens();
  EXPECT_EQ(counted(domain_.cell(count_cell)), 1u);
  for (int i = 0; i < 3; ++i) {
    domain_.set_switch(other_, false);
    happens();
  }
  EXPECT_EQ(counted(domain_.cell(count_cell)), 2u);
  EXPECT_FALSE(thrown(other_));
}

TEST_F(TriggersTest, ALimitHoldsForStackTracesAndHistogramSwitches) {
  const std::uint32_t stacks = domain_.new_cell();
  const std::uint32_t pauses = domain_.new_cell();
  publish({limited(trigger(TriggerAction::kStackTrace), stacks, 1),
           limited(trigger(TriggerAction::kPauseHistogram, other_), pauses, 3)});
  for (int i = 0; i < 5; ++i) happens();
  const auto events = domain_.events();
  EXPECT_EQ(std::count(events.begin(), events.end(), kUserStackSlot), 1);
  EXPECT_EQ(counted(domain_.cell(pauses)), 3u);  // counted whether it was thrown or not
}

TEST_F(TriggersTest, AHistogramsSwitchIsThrownEachTime) {
  publish({trigger(TriggerAction::kPauseHistogram, other_)});
  happens();
  const std::uint64_t first = domain_.cell(other_).own;
  EXPECT_TRUE(is_thrown(first));
  happens();
  EXPECT_GT(domain_.cell(other_).own, first);
  EXPECT_TRUE(thrown(other_));
  publish({trigger(TriggerAction::kContinueHistogram, other_)});
  happens();
  EXPECT_FALSE(thrown(other_));
}

TEST_F(TriggersTest, AStackThatIsWantedOfEachEventStandsBehindThoseThatAreRecorded) {
  for (const bool is_conditional : {false, true}) {
    PlanStep record = domain_.record(0, stop_);
    record.kind = StepKind::kRecordWithStack;
    domain_.publish(kEvent, {domain_.triggers({trigger(TriggerAction::kSnapshot, counter_)}, is_conditional, 2),
                             domain_.soft(off_), record});
    const std::size_t before = domain_.events().size();
    happens();
    domain_.set_switch(off_, true);
    EXPECT_EQ(happens(), 0u);
    domain_.set_switch(off_, false);
    domain_.set_switch(stop_, true);
    EXPECT_EQ(happens(), 0u);
    domain_.set_switch(stop_, false);
    const auto events = domain_.events();
    ASSERT_EQ(events.size(), before + 2);
    EXPECT_EQ(events[before], kEvent);
    EXPECT_EQ(events[before + 1], kUserStackSlot);
  }
}

// -- a trigger looks at the event -------------------------------------------------------------------------------------
TEST_F(TriggersTest, ATriggersFilterDecidesAboutThatTriggerAlone) {
  const std::uint32_t is_one = domain_.first_word_is(1);
  publish(
      {filtered(trigger(TriggerAction::kSnapshot, counter_), is_one), trigger(TriggerAction::kDisableEvent, other_)},
      kConditional);
  EXPECT_EQ(happens(bytes_of(2)), 1u);
  EXPECT_EQ(counted(domain_.cell(counter_)), 0u);
  EXPECT_TRUE(thrown(other_));
  EXPECT_EQ(happens(bytes_of(1)), 1u);
  EXPECT_EQ(counted(domain_.cell(counter_)), 1u);
}

TEST_F(TriggersTest, WhetherTheInstanceRecordsIsDecidedBeforeConditionalTriggers) {
  publish({trigger(TriggerAction::kTraceOff, stop_)}, kConditional);
  EXPECT_EQ(happens(), 1u);
  EXPECT_EQ(happens(), 0u);
  publish({trigger(TriggerAction::kTraceOn, stop_)}, kConditional);
  EXPECT_EQ(happens(), 0u);
  EXPECT_EQ(happens(), 1u);
}

TEST_F(TriggersTest, TheEventsOwnSwitchIsLookedAtBehindThem) {
  publish_with_switch({trigger(TriggerAction::kDisableEvent, off_)}, kConditional);
  EXPECT_EQ(happens(), 0u);
  publish_with_switch({trigger(TriggerAction::kEnableEvent, off_)}, kConditional);
  EXPECT_EQ(happens(), 1u);
}

TEST_F(TriggersTest, LateTriggersComeBehindTheRecord) {
  publish({late(trigger(TriggerAction::kStackTrace)), trigger(TriggerAction::kStackTrace)}, kConditional);
  happens();
  EXPECT_EQ(domain_.events(), (std::vector<std::uint32_t>{kUserStackSlot, kEvent, kUserStackSlot}));
  publish({late(trigger(TriggerAction::kDisableEvent, other_))}, kConditional);
  EXPECT_EQ(happens(), 1u);
  EXPECT_TRUE(thrown(other_));
}

TEST_F(TriggersTest, WithoutConditionALateTriggerIsLikeTheOthers) {
  publish({late(trigger(TriggerAction::kStackTrace))});
  happens();
  EXPECT_EQ(domain_.events(), (std::vector<std::uint32_t>{kUserStackSlot, kEvent}));
}

TEST_F(TriggersTest, OfMoreLateTriggersThanThereCanBeTheRestComeAtOnce) {
  publish({late(trigger(TriggerAction::kStackTrace)), late(trigger(TriggerAction::kStackTrace)),
           late(trigger(TriggerAction::kStackTrace)), late(trigger(TriggerAction::kStackTrace)),
           late(trigger(TriggerAction::kStackTrace))},
          kConditional);
  happens();
  EXPECT_EQ(domain_.events(), (std::vector<std::uint32_t>{kUserStackSlot, kEvent, kUserStackSlot, kUserStackSlot,
                                                          kUserStackSlot, kUserStackSlot}));
}

TEST_F(TriggersTest, GatesHoldForTheRecordOfAConditionalEvent) {
  domain_.publish(kEvent, {domain_.triggers({trigger(TriggerAction::kSnapshot, counter_)}, kConditional, 2),
                           domain_.filter(domain_.first_word_is(1)), domain_.record()});
  EXPECT_EQ(happens(bytes_of(2)), 0u);
  EXPECT_EQ(happens(bytes_of(1)), 1u);
  EXPECT_EQ(counted(domain_.cell(counter_)), 2u);
}

// -- snapshots --------------------------------------------------------------------------------------------------------
TEST_F(TriggersTest, AnUnconditionalSnapshotIsTakenBeforeTheEvent) {
  domain_.publish(kEvent, {domain_.triggers({trigger(TriggerAction::kSnapshot, counter_)}, false, 3),
                           domain_.flip(counter_), domain_.record(0, 0, 0), domain_.record(0, 0, 1)});
  EXPECT_TRUE(domain_.happens(kEvent));
  EXPECT_EQ(domain_.records(0, 0).size(), 0u);
  EXPECT_EQ(domain_.records(0, 1).size(), 1u);
}

TEST_F(TriggersTest, AnEventThatTheKernelHasBegunToWriteIsInTheSnapshot) {
  domain_.publish(
      kEvent, {domain_.triggers({trigger(TriggerAction::kSnapshot, counter_)}, kConditional, 4), domain_.soft(off_, 3),
               domain_.flip(counter_), domain_.record(0, stop_, 0), domain_.record(0, stop_, 1)});
  EXPECT_TRUE(domain_.happens(kEvent));
  EXPECT_EQ(domain_.records(0, 0).size(), 1u);
  EXPECT_EQ(domain_.records(0, 1).size(), 0u);
  EXPECT_EQ(counted(domain_.cell(counter_)), 1u);
  EXPECT_TRUE(domain_.happens(kEvent));
  EXPECT_EQ(domain_.records(0, 1).size(), 1u);
  domain_.set_switch(off_, true);
  EXPECT_TRUE(domain_.happens(kEvent));
  domain_.set_switch(off_, false);
  domain_.set_switch(stop_, true);
  EXPECT_TRUE(domain_.happens(kEvent));
  EXPECT_EQ(domain_.records(0, 0).size() + domain_.records(0, 1).size(), 2u);
  EXPECT_EQ(counted(domain_.cell(counter_)), 4u);
}

TEST_F(TriggersTest, AStackStandsInTheRingsThatTheEventsStandIn) {
  domain_.publish(kEvent, {domain_.triggers({trigger(TriggerAction::kStackTrace)}, false, 3), domain_.flip(counter_),
                           domain_.record(0, 0, 0), domain_.record(0, 0, 1)});
  count(domain_.cell(counter_));
  EXPECT_TRUE(domain_.happens(kEvent));
  EXPECT_EQ(domain_.events(0, 0), (std::vector<std::uint32_t>{}));
  EXPECT_EQ(domain_.events(0, 1), (std::vector<std::uint32_t>{kUserStackSlot, kEvent}));
}

// -- other users ------------------------------------------------------------------------------------------------------
TEST_F(TriggersTest, AmongSeveralUsersTheOwnerIsToldWhatHasChanged) {
  const std::uint32_t& attention = domain_.data().attention;
  publish({trigger(TriggerAction::kDisableEvent, other_)});
  happens();
  EXPECT_EQ(attention, 0u);  // one user: nobody is to be told
  domain_.control().user_count = 2;
  happens();
  EXPECT_EQ(attention, 0u);  // nothing has changed
  domain_.set_switch(other_, false);
  happens();
  EXPECT_EQ(attention, 1u);
  publish({trigger(TriggerAction::kSnapshot, counter_), trigger(TriggerAction::kPauseHistogram, other_)});
  happens();
  EXPECT_EQ(attention, 3u);
}

TEST_F(TriggersTest, AnOwnerThatSleepsIsWoken) {
  domain_.control().user_count = 2;
  std::uint32_t* const attention = &domain_.data().attention;
  std::thread owner([&] {
    while (__atomic_load_n(attention, __ATOMIC_ACQUIRE) == 0) {
      ::syscall(SYS_futex, attention, FUTEX_WAIT, 0, nullptr, nullptr, 0);
    }
  });
  errno = EDOM;
  tell_others(domain_.view());
  EXPECT_EQ(errno, EDOM);
  owner.join();
}

}  // namespace
}  // namespace landtrace::plan
