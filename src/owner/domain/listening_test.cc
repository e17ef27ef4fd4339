// Who listens to what, and what the events' plans say of it; with rules that do nothing but write down what they are
// told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "domain/domain.hpp"
#include "domain/ring_exchange.hpp"

namespace landtrace::domain {
namespace {

using plan::PlanStep;
using plan::StepKind;
using testing::ElementsAre;
using testing::IsEmpty;

class ToldRules : public EventRules {
 public:
  Result<void> select(Event& event) override {
    told.push_back("select " + event.name);
    return selects ? selects(event) : Result<void>();
  }
  Result<void> listeners_changed(Event& event) override {
    told.push_back("listeners of " + event.name);
    if (fails) return fail(ENOSPC, "no room");
    return {};
  }
  void gone(Event& event) override { told.push_back("gone " + event.name); }
  void stop(Instance& instance) override { told.push_back("stop " + instance.name); }
  void program_came(std::uint32_t pid) override { told.push_back("program " + std::to_string(pid)); }
  void restore(const SavedEvent& saved) override { told.push_back("restore " + saved.name); }

  std::vector<std::string> told;
  std::function<Result<void>(Event&)> selects;
  bool fails = false;
};

class ListeningTest : public testing::Test {
 protected:
  ListeningTest() { domain_->set_rules(&rules_); }
  ~ListeningTest() override { domain_->set_rules(nullptr); }

  Event& make(const std::string& text, std::uint16_t flags = kPersist) {
    return *domain_->events().at(*domain_->registrar().register_native(text, flags, ::geteuid()));
  }
  Instance& add_instance(const std::string& name) {
    return **domain_->instances().create(name, ring::Geometry::holding(0), true, true);
  }
  std::vector<PlanStep> plan_of(const Event& event) {
    const std::uint32_t at = domain_->control().segment().events[event.slot].plan;
    if (at == 0) return {};
    const auto& plan = *reinterpret_cast<const plan::Plan*>(domain_->control().at(at));
    const auto* const steps = reinterpret_cast<const PlanStep*>(&plan + 1);
    return {steps, steps + plan.step_count};
  }
  std::vector<StepKind> kinds_of(const Event& event) {
    std::vector<StepKind> kinds;
    for (const PlanStep& step : plan_of(event)) kinds.push_back(step.kind);
    return kinds;
  }
  // Uses up the control segment, so that no plan has room any more; the next one gives it back.
  void fill() {
    constexpr std::uint64_t kLargest = plan::kControlBytes / 2;
    for (std::uint64_t size = kLargest; size >= 8; size /= 2) {
      while (const auto at = domain_->control().allocate(size, 8)) filling_.push_back(*at);
    }
  }
  void make_room() {
    for (const std::uint32_t at : std::exchange(filling_, {})) domain_->control().free(at);
  }
  Instance& top() { return domain_->top(); }

  ToldRules rules_;
  std::unique_ptr<Domain> domain_ = *Domain::create({.ring_bytes = 1 << 18});
  std::vector<std::uint32_t> filling_;
};

TEST_F(ListeningTest, EnableWordsOfABatchChangeTogether) {
  Event& one = make("e1");
  Event& other = make("e2");
  std::uint32_t words[2] = {};
  const Identity self{::geteuid(), ::getegid()};
  const auto bit_of = [](std::uint32_t& word) { return EnableBit{reinterpret_cast<std::uint64_t>(&word), 0}; };
  ASSERT_TRUE(domain_->enable_words().add(::getpid(), self, bit_of(words[0]), one));
  ASSERT_TRUE(domain_->enable_words().add(::getpid(), self, bit_of(words[1]), other));
  const auto now = [&] { return std::vector<std::uint32_t>(words, words + 2); };
  {
    const Listening::Batch all(domain_->listening());
    ASSERT_TRUE(domain_->listening().set(top(), {&one}, true));
    ASSERT_TRUE(domain_->listening().set(top(), {&other}, true));
    EXPECT_THAT(now(), ElementsAre(0, 0));
  }
  EXPECT_THAT(now(), ElementsAre(1, 1));
  {
    const Listening::Batch all(domain_->listening());
    ASSERT_TRUE(domain_->listening().set(top(), {&one}, false));
    Event& gone = make("e3", 0);
    const std::uint32_t slot = gone.slot;
    ASSERT_TRUE(domain_->listening().set(top(), {&gone}, true));
    ASSERT_TRUE(domain_->listening().set(top(), {&gone}, false));
    domain_->events().drop_reference(slot, ::geteuid());
    ASSERT_EQ(domain_->events().at(slot), nullptr);
  }
  EXPECT_THAT(now(), ElementsAre(0, 1));
  ASSERT_TRUE(domain_->listening().set(top(), {&other}, false));
  EXPECT_THAT(now(), ElementsAre(0, 0));
}

TEST_F(ListeningTest, AnEventIsRecordedWhereSomebodyListens) {
  Event& event = make("e1");
  Instance& other = add_instance("other");
  EXPECT_THAT(plan_of(event), IsEmpty());
  ASSERT_TRUE(domain_->listening().set(other, {&event}, true));
  ASSERT_TRUE(domain_->listening().set(top(), {&event}, true));
  const auto steps = plan_of(event);
  ASSERT_THAT(kinds_of(event), ElementsAre(StepKind::kRecord, StepKind::kRecord));
  EXPECT_EQ(steps[0].instance, top().index);
  EXPECT_EQ(steps[0].rings, top().place.rings);
  EXPECT_EQ(steps[0].consumed, top().place.consumed);
  EXPECT_EQ(steps[0].cell, top().stop_switch);
  EXPECT_EQ(steps[1].instance, other.index);
  EXPECT_EQ(steps[1].rings, other.place.rings);
  EXPECT_TRUE(domain_->listening().is_recorded(top(), event));
  ASSERT_TRUE(domain_->listening().set(top(), {&event}, false));
  EXPECT_THAT(kinds_of(event), ElementsAre(StepKind::kRecord));
  EXPECT_FALSE(domain_->listening().is_recorded(top(), event));
  EXPECT_TRUE(domain_->listening().is_recorded(other, event));
  ASSERT_TRUE(domain_->listening().set(other, {&event}, false));
  EXPECT_EQ(domain_->control().segment().events[event.slot].plan, 0u);
}

TEST_F(ListeningTest, StepsOfRecordersSayThatTheyAre) {
  Event& event = make("e1");
  Instance& session = **domain_->instances().create("session", ring::Geometry::holding(0), false);
  ASSERT_TRUE(domain_->listening().set(top(), {&event}, true));
  ASSERT_TRUE(domain_->listening().set(session, {&event}, true));
  const auto steps = plan_of(event);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].instance, 0);
  EXPECT_EQ(steps[1].instance, session.index | PlanStep::kOfRecorder);
}

TEST_F(ListeningTest, WhoListensAlreadyChangesNothing) {
  Event& event = make("e1");
  ASSERT_TRUE(domain_->listening().set(top(), {&event}, true));
  const std::uint32_t plan = domain_->control().segment().events[event.slot].plan;
  rules_.told.clear();
  ASSERT_TRUE(domain_->listening().set(top(), {&event}, true));
  EXPECT_EQ(domain_->control().segment().events[event.slot].plan, plan);
  EXPECT_THAT(rules_.told, IsEmpty());
}

TEST_F(ListeningTest, GatesStandBeforeTheRecordAndSkipIt) {
  Event& event = make("e1");
  Instance& other = add_instance("other");
  ASSERT_TRUE(domain_->listening().set(top(), {&event}, true));
  ASSERT_TRUE(domain_->listening().set(other, {&event}, true));
  EventFile& file = event.files[top().index];
  file.trigger_list = 0x1000, file.filter_program = 0x2000;
  ASSERT_TRUE(domain_->listening().hold_soft(top(), event));
  ASSERT_TRUE(domain_->thread_lists().set(top(), {{7}}, std::nullopt));
  const auto steps = plan_of(event);
  ASSERT_THAT(kinds_of(event), ElementsAre(StepKind::kTriggers, StepKind::kSoft, StepKind::kThreads, StepKind::kFilter,
                                           StepKind::kRecord, StepKind::kRecord));
  EXPECT_EQ(steps[0].triggers, 0x1000u);
  EXPECT_EQ(steps[1].cell, file.soft_switch);
  EXPECT_EQ(steps[2].threads, top().threads.published);
  EXPECT_EQ(steps[3].filter, 0x2000u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(steps[i].skip, 4 - i) << i;
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(steps[i].instance, top().index);
  EXPECT_EQ(steps[5].instance, other.index);
  file.trigger_list = file.filter_program = 0;
}

TEST_F(ListeningTest, ObserversStandAroundTheGatesAndAreNotSkipped) {
  Event& event = make("e1");
  ASSERT_TRUE(domain_->listening().set(top(), {&event}, true));
  EventFile& file = event.files[top().index];
  file.observers = {{StepKind::kProgram, false, 0, 0x1000},
                    {StepKind::kHistogram, true, 0x2000, 0x3000},
                    {StepKind::kHistogram, false, 0, 0x4000}};
  ASSERT_TRUE(domain_->listening().hold_soft(top(), event));
  const auto steps = plan_of(event);
  ASSERT_THAT(kinds_of(event),
              ElementsAre(StepKind::kProgram, StepKind::kHistogram, StepKind::kSoft, StepKind::kRecord,
                          StepKind::kHistogram));
  EXPECT_EQ(steps[0].program, 0x1000u);
  EXPECT_EQ(steps[0].cell, 0u);
  EXPECT_EQ(steps[1].histogram, 0x4000u);
  EXPECT_EQ(steps[1].cell, 0u);
  EXPECT_EQ(steps[2].skip, 1) << "to the one behind the record";
  EXPECT_EQ(steps[4].histogram, 0x3000u);
  EXPECT_EQ(steps[4].cell, 0x2000u);
  EXPECT_EQ(steps[0].skip + steps[1].skip + steps[4].skip, 0);
  for (const PlanStep& step : steps) EXPECT_EQ(step.instance, top().index);
  file.observers.clear();
}

TEST_F(ListeningTest, TwoSetsOfRingsAreExchangedByAFlip) {
  Event& event = make("e1");
  ASSERT_TRUE(domain_->listening().set(top(), {&event}, true));
  const RingPlace first = top().place, second = *domain_->instances().make_place(first.geometry, true);
  const std::uint32_t counter = *domain_->cells().take_counter();
  ASSERT_TRUE(set_flip(top(), Flip{counter, {first, second}}, domain_->plans(), domain_->cells(), domain_->grace()));
  ASSERT_THAT(kinds_of(event), ElementsAre(StepKind::kFlip, StepKind::kRecord, StepKind::kRecord));
  EXPECT_EQ(plan_of(event)[0].cell, counter);
  EXPECT_EQ(plan_of(event)[0].skip, 2);
  EXPECT_EQ(plan_of(event)[1].rings, first.rings);
  EXPECT_EQ(plan_of(event)[2].rings, second.rings);
  EXPECT_EQ(domain_->plans().record_step(top()).rings, first.rings);
  domain_->cells().count_one_more(counter);
  EXPECT_EQ(domain_->plans().record_step(top()).rings, second.rings);
  EXPECT_EQ(top().place.rings, first.rings) << "whoever keeps the buffer finds out when it looks";
  ASSERT_TRUE(set_flip(top(), std::nullopt, domain_->plans(), domain_->cells(), domain_->grace()));
  EXPECT_EQ(top().place.rings, second.rings) << "what records now is what it stays with";
  EXPECT_THAT(kinds_of(event), ElementsAre(StepKind::kRecord));
  EXPECT_EQ(plan_of(event)[0].rings, second.rings);
  EXPECT_FALSE(domain_->grace().poll());
  EXPECT_EQ(domain_->cells().take_counter(), counter) << "the counter is free again";
}

TEST_F(ListeningTest, OtherRingsAreInThePlansOfAllEvents) {
  Event &one = make("e1"), &two = make("e2"), &silent = make("e3");
  ASSERT_TRUE(domain_->listening().set(top(), {&one, &two}, true));
  const RingPlace old = top().place;
  const RingPlace next = *domain_->instances().make_place(ring::Geometry::holding(1 << 20), true);
  EXPECT_EQ(exchange_rings(top(), next, domain_->plans(), domain_->grace())->rings, old.rings);
  EXPECT_EQ(top().place.rings, next.rings);
  EXPECT_EQ(plan_of(one)[0].rings, next.rings);
  EXPECT_EQ(plan_of(two)[0].rings, next.rings);
  EXPECT_THAT(plan_of(silent), IsEmpty());
}

TEST_F(ListeningTest, WithoutRoomForAPlanAllStaysAsItWas) {
  Event &one = make("e1"), &two = make("e2");
  ASSERT_TRUE(domain_->listening().set(top(), {&one}, true));
  const RingPlace place = top().place;
  const RingPlace next = *domain_->instances().make_place(place.geometry, true);
  fill();
  EXPECT_EQ(domain_->listening().set(top(), {&two}, true).error().code, ENOSPC);
  EXPECT_FALSE(two.listeners.any());
  EXPECT_EQ(domain_->listening().hold_soft(top(), two).error().code, ENOSPC);
  EXPECT_FALSE(two.files[top().index].in_soft_mode());
  EXPECT_FALSE(two.listeners.any());
  EXPECT_EQ(exchange_rings(top(), next, domain_->plans(), domain_->grace()).error().code, ENOSPC);
  EXPECT_EQ(top().place.rings, place.rings);
  const Flip flip{*domain_->cells().take_counter(), {next, place}};
  EXPECT_EQ(set_flip(top(), flip, domain_->plans(), domain_->cells(), domain_->grace()).error().code, ENOSPC);
  EXPECT_FALSE(top().flip);
  EXPECT_EQ(top().place.rings, place.rings);
  EXPECT_EQ(domain_->thread_lists().set(top(), {{1}}, std::nullopt).error().code, ENOSPC);
  EXPECT_FALSE(top().threads.is_set());
  EXPECT_EQ(plan_of(one)[0].rings, place.rings);
  make_room();
  EXPECT_TRUE(domain_->listening().set(top(), {&two}, true));
}

TEST_F(ListeningTest, InSoftModeASwitchSaysWhetherAnEventIsRecorded) {
  Event& event = make("e1");
  ASSERT_TRUE(domain_->listening().hold_soft(top(), event));
  EXPECT_TRUE(event.listeners[top().index]);
  EXPECT_FALSE(domain_->listening().is_recorded(top(), event));
  const std::uint32_t cell = event.files[top().index].soft_switch;
  EXPECT_TRUE(domain_->cells().is_thrown(cell));
  const std::uint32_t plan = domain_->control().segment().events[event.slot].plan;
  ASSERT_TRUE(domain_->listening().set(top(), {&event}, true));
  EXPECT_TRUE(domain_->listening().is_recorded(top(), event));
  EXPECT_FALSE(domain_->cells().is_thrown(cell));
  ASSERT_TRUE(domain_->listening().set(top(), {&event}, false));
  EXPECT_FALSE(domain_->listening().is_recorded(top(), event));
  EXPECT_TRUE(event.listeners[top().index]) << "the triggers still look at it";
  EXPECT_EQ(domain_->control().segment().events[event.slot].plan, plan) << "the switch alone has changed";
}

TEST_F(ListeningTest, SoftModeLastsAsLongAsSomebodyHoldsIt) {
  Event& event = make("e1");
  ASSERT_TRUE(domain_->listening().hold_soft(top(), event));
  const std::uint32_t cell = event.files[top().index].soft_switch;
  ASSERT_TRUE(domain_->listening().hold_soft(top(), event));
  EXPECT_EQ(event.files[top().index].soft_switch, cell);
  domain_->listening().release_soft(top(), event);
  EXPECT_TRUE(event.files[top().index].in_soft_mode());
  domain_->listening().release_soft(top(), event);
  EXPECT_FALSE(event.files[top().index].in_soft_mode());
  EXPECT_FALSE(event.listeners.any()) << "what was enabled by it alone is off";
  EXPECT_THAT(plan_of(event), IsEmpty());
  domain_->grace().poll();
  EXPECT_EQ(domain_->cells().take_counter(), cell);
}

TEST_F(ListeningTest, AnEventThatIsRecordedStaysSoAfterSoftMode) {
  Event& event = make("e1");
  ASSERT_TRUE(domain_->listening().set(top(), {&event}, true));
  ASSERT_TRUE(domain_->listening().hold_soft(top(), event));
  EXPECT_TRUE(domain_->listening().is_recorded(top(), event));
  domain_->listening().release_soft(top(), event);
  EXPECT_TRUE(domain_->listening().is_recorded(top(), event));
  EXPECT_THAT(kinds_of(event), ElementsAre(StepKind::kRecord));
}

TEST_F(ListeningTest, RulesAreToldOfEventsAndListeners) {
  Event& event = make("e1");
  EXPECT_THAT(rules_.told, ElementsAre("select e1"));
  rules_.told.clear();
  ASSERT_TRUE(domain_->listening().set(top(), {&event}, true));
  EXPECT_THAT(rules_.told, ElementsAre("listeners of e1"));
  ASSERT_TRUE(domain_->listening().set(top(), {&event}, false));
  rules_.told.clear();
  make("e1");
  EXPECT_THAT(rules_.told, IsEmpty()) << "it is there already";
  domain_->events().drop_reference(event.slot), domain_->events().drop_reference(event.slot);
  ASSERT_TRUE(domain_->registrar().remove_event("e1", ::geteuid()));
  EXPECT_THAT(rules_.told, ElementsAre("gone e1"));
  rules_.told.clear();
  ASSERT_TRUE(domain_->registrar().open_file(::geteuid(), 4711));
  ASSERT_TRUE(domain_->registrar().open_file(::geteuid()));
  EXPECT_THAT(rules_.told, ElementsAre("program 4711"));
}

TEST_F(ListeningTest, AnEventHasItsListenersBeforeItsMakerGoesOn) {
  rules_.selects = [&](Event& event) { return domain_->listening().set(top(), {&event}, true); };
  Event& event = make("e1");
  EXPECT_THAT(kinds_of(event), ElementsAre(StepKind::kRecord));
}

TEST_F(ListeningTest, AnEventWhoseRulesHaveNoRoomIsNotMade) {
  rules_.selects = [](Event&) -> Result<void> { return fail(ENOSPC, "no room"); };
  auto declaration = *event::parse_declared("wakeup", "u64 lat", "synthetic");
  EXPECT_EQ(domain_->registrar().add_event("synthetic", declaration, "u64 lat", ::geteuid()).error().code, ENOSPC);
  EXPECT_EQ(domain_->events().find("synthetic", "wakeup"), nullptr);
  rules_.selects = nullptr;
  EXPECT_TRUE(domain_->registrar().add_event("synthetic", declaration, "u64 lat", ::geteuid()));
}

TEST_F(ListeningTest, AnEventThatItsRulesCannotHaveListenedToIsNot) {
  Event& event = make("e1");
  rules_.fails = true;
  EXPECT_EQ(domain_->listening().set(top(), {&event}, true).error().code, ENOSPC);
  EXPECT_FALSE(domain_->listening().is_recorded(top(), event));
  EXPECT_FALSE(event.listeners.any());
  EXPECT_EQ(domain_->listening().hold_soft(top(), event).error().code, ENOSPC);
  EXPECT_FALSE(event.listeners.any());
  rules_.fails = false;
  EXPECT_TRUE(domain_->listening().set(top(), {&event}, true));
  EXPECT_TRUE(domain_->listening().is_recorded(top(), event));
}

TEST_F(ListeningTest, AnInstanceThatGoesStopsItsRulesAndListensToNothing) {
  Event& event = make("e1");
  Instance& other = add_instance("other");
  ASSERT_TRUE(domain_->listening().set(other, {&event}, true));
  rules_.told.clear();
  destroy_instance(other.index, domain_->listening(), domain_->instances());
  EXPECT_THAT(rules_.told, ElementsAre("stop other", "listeners of e1"));
  EXPECT_FALSE(event.listeners.any());
  EXPECT_EQ(domain_->instances().find("other"), nullptr);
  destroy_instance(0, domain_->listening(), domain_->instances());
  EXPECT_NE(domain_->instances().at(0), nullptr) << "the top instance stays";
  destroy_instance(17, domain_->listening(), domain_->instances());
}

TEST_F(ListeningTest, AnInstanceThatIsMadeQuietIsThereStill) {
  Event& event = make("e1");
  ASSERT_TRUE(domain_->listening().set(top(), {&event}, true));
  rules_.told.clear();
  quiesce(top(), domain_->listening(), domain_->grace());
  EXPECT_THAT(rules_.told, ElementsAre("stop ", "listeners of e1"));
  EXPECT_FALSE(event.listeners.any());
  EXPECT_FALSE(domain_->grace().is_waiting());
}

TEST_F(ListeningTest, AnEventThatOnlyAListenerKeptGoesWithIt) {
  Event& event = make("e1", 0);
  ASSERT_TRUE(domain_->listening().set(top(), {&event}, true));
  domain_->events().drop_reference(event.slot);
  ASSERT_NE(domain_->events().find(kSystem, "e1"), nullptr);
  ASSERT_TRUE(domain_->listening().set(top(), {&event}, false));
  EXPECT_EQ(domain_->events().find(kSystem, "e1"), nullptr);
}

TEST_F(ListeningTest, AfterAnEndNoEventDoesAnything) {
  Event& event = make("e1");
  ASSERT_TRUE(domain_->listening().set(top(), {&event}, true));
  ASSERT_TRUE(domain_->events().give_place(event, Page::kBits));
  EXPECT_EQ(domain_->status_pages().bits()[0], std::byte{2});
  domain_->shut_down();
  EXPECT_THAT(plan_of(event), IsEmpty());
  EXPECT_EQ(domain_->status_pages().bits()[0], std::byte{0});
}

}  // namespace
}  // namespace landtrace::domain
