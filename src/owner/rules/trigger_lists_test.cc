// What triggers need and give back, and what happens where that cannot be had.
#include <gmock/gmock.h>

#include "language/histogram/table_reader.hpp"
#include "rules/snapshots.hpp"
#include "rules/test_rules.hpp"

namespace landtrace::rules {
namespace {

using plan::StepKind;
using testing::ElementsAre;
using testing::IsEmpty;

// Two sets of rings, exchanged by the test itself.
class CountingSnapshots : public domain::SnapshotKeeper {
 public:
  explicit CountingSnapshots(Instance& instance, std::uint32_t counter) : instance_(instance), counter_(counter) {
    instance_.snapshots = this;
  }
  Result<void> arm_snapshot(bool armed) override {
    told.push_back(armed);
    if (refuses) return fail(ENOMEM, "no room");
    if (armed) {
      instance_.flip = domain::Flip{counter_, {instance_.place, instance_.place}};
    } else {
      instance_.flip.reset();
    }
    return {};
  }
  void user_goes(std::uint32_t) override {}
  std::vector<bool> told;
  bool refuses = false;

 private:
  Instance& instance_;
  std::uint32_t counter_;
};

class TriggerListsTest : public RulesFixture {
 protected:
  TriggerListsTest() { first_ = make("first u32 n"), second_ = make("second u32 n"); }

  std::uint64_t bytes_in_use() {
    EXPECT_TRUE(domain_->grace().drain(std::chrono::seconds(60)));
    return domain_->control().bytes_in_use();
  }
  // The cell that is taken next, which is given back at once.
  std::uint32_t next_cell() {
    EXPECT_TRUE(domain_->grace().drain(std::chrono::seconds(60)));
    const std::uint32_t cell = *domain_->cells().take_counter();
    domain_->cells().give_back(cell);
    return cell;
  }
  const plan::TriggerList& published(Event* event) {
    return *reinterpret_cast<const plan::TriggerList*>(domain_->control().at(event->files[0].trigger_list));
  }
  std::vector<plan::PlanStep> plan_of(const Event* event) {
    const std::uint32_t offset = domain_->control().segment().events[event->slot].plan;
    if (offset == 0) return {};
    const auto& plan = *reinterpret_cast<const plan::Plan*>(domain_->control().at(offset));
    return {plan.steps(), plan.steps() + plan.step_count};
  }
  std::uint64_t hits(const EventTrigger& histogram) {
    std::vector<std::byte*> segments;
    for (const domain::User& user : domain_->users().all()) {
      segments.push_back(reinterpret_cast<std::byte*>(&user.data()));
    }
    return language::read_tables(*reinterpret_cast<const hist::HistPlan*>(domain_->control().at(histogram.plan)),
                                 segments)
        .hits;
  }
  // What the first event does.
  std::vector<StepKind> kinds() {
    std::vector<StepKind> kinds;
    for (const plan::PlanStep& step : plan_of(first_)) kinds.push_back(step.kind);
    return kinds;
  }
  void fill() {
    for (std::uint64_t size = plan::kControlBytes / 2; size >= 8; size /= 2) {
      while (domain_->control().allocate(size, 8)) {
      }
    }
  }

  Event *first_ = nullptr, *second_ = nullptr;
};

TEST_F(TriggerListsTest, TheNewestTriggerComesFirst) {
  ASSERT_EQ(apply(first_, "traceoff:3"), 0);
  ASSERT_EQ(apply(first_, "enable_event:user_events:second"), 0);
  ASSERT_EQ(apply(first_, "stacktrace if n > 1"), 0);
  EXPECT_EQ(triggers(first_),
            "stacktrace:unlimited if n > 1\nenable_event:user_events:second:unlimited\ntraceoff:count=3\n");
  EXPECT_EQ(published(first_).count, 3u);
  ASSERT_EQ(apply(first_, "!enable_event:user_events:second"), 0);
  EXPECT_EQ(triggers(first_), "stacktrace:unlimited if n > 1\ntraceoff:count=3\n");
}

TEST_F(TriggerListsTest, AnEventWithoutTriggersSaysWhichThereAre) {
  EXPECT_EQ(triggers(first_), language::no_trigger_text());
  ASSERT_EQ(apply(first_, "traceoff"), 0);
  ASSERT_EQ(apply(first_, "!traceoff"), 0);
  EXPECT_EQ(triggers(first_), language::no_trigger_text());
  EXPECT_EQ(first_->files[0].trigger_list, 0u);
}

TEST_F(TriggerListsTest, OneOfAFamilyIsEnough) {
  ASSERT_EQ(apply(first_, "traceoff"), 0);
  EXPECT_EQ(apply(first_, "traceoff:5 if n > 1"), EEXIST);
  EXPECT_EQ(apply(first_, "traceon"), EEXIST);
  ASSERT_EQ(apply(first_, "enable_event:user_events:second"), 0);
  EXPECT_EQ(apply(first_, "disable_event:user_events:second"), EEXIST);
  EXPECT_EQ(apply(first_, "disable_event:user_events:first"), 0) << "another event is another matter";
  EXPECT_EQ(apply(second_, "traceon"), 0);
  EXPECT_EQ(apply(first_, "!traceon"), 0) << "of the family it is the one";
  EXPECT_EQ(apply(first_, "traceon"), 0);
}

TEST_F(TriggerListsTest, WhatIsNoTriggerIsRefusedAndLeavesNothing) {
  const std::uint64_t before = bytes_in_use();
  const std::uint32_t cell = next_cell();
  for (const char* const text : {"nosuch", "traceoff:x", "traceoff if", "traceoff if n ==", "traceoff if nosuch == 1",
                                 "enable_event", "enable_event:user_events", "enable_event:user_events:nosuch",
                                 "enable_event:nosuch:second", "traceoff:99999999999999999999999"}) {
    EXPECT_NE(apply(first_, text), 0) << text;
  }
  EXPECT_THAT(first_->files.find(0) == nullptr || find_rules(*first_, top())->triggers.empty(), true);
  EXPECT_FALSE(first_->listeners.any());
  EXPECT_EQ(bytes_in_use(), before);
  EXPECT_EQ(next_cell(), cell);
}

// -- observers --------------------------------------------------------------------------------------------------------
TEST_F(TriggerListsTest, HistogramsAloneAreStepsOfThePlan) {
  ASSERT_EQ(apply(first_, "hist:keys=n if n > 1"), 0);
  ASSERT_EQ(apply(first_, "hist:keys=n.log2"), 0);
  EXPECT_THAT(kinds(), ElementsAre(StepKind::kHistogram, StepKind::kHistogram, StepKind::kSoft, StepKind::kRecord));
  const auto& triggers = find_rules(*first_, top())->triggers;
  const std::vector<plan::PlanStep> steps = plan_of(first_);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(steps[i].histogram, triggers[i].plan);
    EXPECT_EQ(steps[i].cell, triggers[i].program);
  }
  EXPECT_NE(steps[0].cell, 0u);
  EXPECT_EQ(first_->files[0].trigger_list, 0u);
  for (const std::uint32_t n : {1u, 2u, 2u}) write(0, n);
  EXPECT_EQ(hits(triggers[0]), 2u);
  EXPECT_EQ(hits(triggers[1]), 3u);
}

TEST_F(TriggerListsTest, HistogramsBesideOtherTriggersAreInTheirList) {
  ASSERT_EQ(apply(first_, "hist:keys=n"), 0);
  ASSERT_EQ(apply(first_, "traceoff if n == 7"), 0);
  EXPECT_THAT(kinds(), ElementsAre(StepKind::kTriggers, StepKind::kSoft, StepKind::kRecord));
  EXPECT_EQ(published(first_).count, 2u);
  ASSERT_EQ(apply(first_, "!traceoff"), 0);
  EXPECT_THAT(kinds(), ElementsAre(StepKind::kHistogram, StepKind::kSoft, StepKind::kRecord));
  ASSERT_EQ(apply(first_, "!hist:keys=n"), 0);
  EXPECT_THAT(kinds(), IsEmpty());
}

TEST_F(TriggerListsTest, FromTheFirstThatActsOnTheyStandBehindTheRecord) {
  ASSERT_EQ(apply(first_, "hist:keys=n"), 0);
  ASSERT_EQ(apply(first_, "hist:keys=n.hex:x=n:onmax($x).save(common_pid)"), 0);
  ASSERT_EQ(apply(first_, "hist:keys=n.log2"), 0);
  EXPECT_THAT(kinds(), ElementsAre(StepKind::kHistogram, StepKind::kSoft, StepKind::kRecord, StepKind::kHistogram,
                                   StepKind::kHistogram));
  const std::vector<plan::PlanStep> steps = plan_of(first_);
  const auto& triggers = find_rules(*first_, top())->triggers;
  EXPECT_EQ(steps[0].histogram, triggers[0].plan);
  EXPECT_EQ(steps[3].histogram, triggers[1].plan);
  EXPECT_EQ(steps[4].histogram, triggers[2].plan);
}

TEST_F(TriggerListsTest, TwoThatLookAtTheTimeSeeTheSame) {
  ASSERT_EQ(apply(first_, "hist:keys=n:ts=common_timestamp"), 0);
  EXPECT_THAT(kinds(), ElementsAre(StepKind::kHistogram, StepKind::kSoft, StepKind::kRecord));
  ASSERT_EQ(apply(first_, "hist:keys=n.log2:later=common_timestamp"), 0);
  EXPECT_THAT(kinds(), ElementsAre(StepKind::kTriggers, StepKind::kSoft, StepKind::kRecord));
}

TEST_F(TriggerListsTest, ManyAreAList) {
  for (std::size_t i = 0; i < plan::kMaxObservers; ++i) {
    ASSERT_EQ(apply(first_, "hist:keys=n if n > " + std::to_string(i)), 0) << i;
  }
  EXPECT_EQ(kinds().size(), plan::kMaxObservers + 2);
  ASSERT_EQ(apply(first_, "hist:keys=n"), 0);
  EXPECT_THAT(kinds(), ElementsAre(StepKind::kTriggers, StepKind::kSoft, StepKind::kRecord));
}

TEST_F(TriggerListsTest, WhatItNeededIsGivenBack) {
  const std::uint32_t cell = next_cell();
  ASSERT_EQ(apply(first_, "traceoff"), 0);
  ASSERT_EQ(apply(first_, "!traceoff"), 0);
  const std::uint64_t before = bytes_in_use();
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(apply(first_, "traceoff:3 if n > 1 && n < 100"), 0);
    ASSERT_EQ(apply(first_, "enable_event:user_events:second:2 if n == 7"), 0);
    ASSERT_EQ(apply(first_, "traceoff:3 if n > 1"), EEXIST);
    ASSERT_EQ(apply(first_, "!traceoff"), 0);
    ASSERT_EQ(apply(first_, "!enable_event:user_events:second"), 0);
  }
  EXPECT_EQ(bytes_in_use(), before);
  EXPECT_LE(next_cell(), cell + 4) << "cells come back, in whatever order";
  EXPECT_FALSE(first_->listeners.any());
  EXPECT_FALSE(second_->listeners.any());
}

TEST_F(TriggerListsTest, WithoutRoomNothingIsAddedAndWhatIsThereStays) {
  ASSERT_EQ(apply(first_, "traceoff:1"), 0);
  fill();
  EXPECT_EQ(apply(second_, "traceoff:1"), ENOSPC);
  EXPECT_EQ(triggers(second_), language::no_trigger_text());
  EXPECT_FALSE(second_->listeners.any());
  EXPECT_EQ(apply(first_, "enable_event:user_events:second"), ENOSPC);
  EXPECT_EQ(triggers(first_), "traceoff:count=1\n");
  EXPECT_FALSE(second_->listeners.any());
  write(0, 1u);
  EXPECT_FALSE(domain_->instances().is_tracing(top())) << "the old one still acts";
}

TEST_F(TriggerListsTest, SnapshotsAreArmedAsLongAsATriggerMayTakeOne) {
  EXPECT_EQ(apply(first_, "snapshot"), EINVAL) << "nobody keeps a buffer for it";
  CountingSnapshots snapshots(top(), *domain_->cells().take_counter());
  ASSERT_EQ(apply(first_, "snapshot:1"), 0);
  ASSERT_EQ(apply(second_, "snapshot if n > 1"), 0);
  EXPECT_THAT(snapshots.told, ElementsAre(true));
  EXPECT_EQ(top().snapshot_triggers, 2u);
  ASSERT_EQ(apply(first_, "!snapshot"), 0);
  EXPECT_THAT(snapshots.told, ElementsAre(true));
  ASSERT_EQ(apply(second_, "!snapshot"), 0);
  EXPECT_THAT(snapshots.told, ElementsAre(true, false));
  EXPECT_EQ(top().snapshot_triggers, 0u);
  top().snapshots = nullptr;
}

TEST_F(TriggerListsTest, ASnapshotThatCannotBeArmedIsNoTrigger) {
  CountingSnapshots snapshots(top(), *domain_->cells().take_counter());
  snapshots.refuses = true;
  EXPECT_EQ(apply(first_, "snapshot"), ENOMEM);
  EXPECT_EQ(top().snapshot_triggers, 0u);
  EXPECT_EQ(triggers(first_), language::no_trigger_text());
  snapshots.refuses = false;
  EXPECT_EQ(apply(first_, "snapshot"), 0);
  EXPECT_EQ(top().snapshot_triggers, 1u);
  ASSERT_EQ(apply(first_, "!snapshot"), 0);
  top().snapshots = nullptr;
}

TEST_F(TriggerListsTest, AnEventThatIsSwitchedStaysAsLongAsTheTrigger) {
  ASSERT_EQ(apply(first_, "enable_event:user_events:second"), 0);
  domain_->files().close(file_);
  EXPECT_NE(domain_->events().find(domain::kSystem, "second"), nullptr);
  ASSERT_NE(domain_->events().find(domain::kSystem, "first"), nullptr) << "its trigger listens to it";
  ASSERT_EQ(apply(first_, "!enable_event:user_events:second"), 0);
  EXPECT_THAT(domain_->events().all(), IsEmpty());
}

TEST_F(TriggerListsTest, WhenAnInstanceStopsAllThatItWantedGoes) {
  Instance& other = **domain_->instances().create("other", ring::Geometry::holding(0), true, true);
  ASSERT_TRUE(rules_.triggers().apply(other, *first_, "enable_event:user_events:second"));
  ASSERT_TRUE(rules_.triggers().apply(other, *first_, "hist:keys=n"));
  ASSERT_TRUE(rules_.triggers().apply(other, *second_, "disable_hist:user_events:first"));
  ASSERT_TRUE(rules_.filters().set(other, *first_, "n > 1"));
  ASSERT_TRUE(rules_.event_probes().define("e:p1 user_events/first n=$n", ::geteuid()));
  Event* const probe = domain_->events().find("eprobes", "p1");
  ASSERT_NE(probe, nullptr);
  ASSERT_TRUE(domain_->listening().set(other, {probe}, true));
  ASSERT_EQ(apply(first_, "traceoff:2"), 0);
  domain::destroy_instance(other.index, domain_->listening(), domain_->instances());
  EXPECT_FALSE(second_->listeners.any());
  EXPECT_EQ(triggers(first_), "traceoff:count=2\n") << "the other instance's are its own";
  EXPECT_EQ(first_->files.all().size(), 1u);
  write(0, 1u);
  EXPECT_FALSE(domain_->instances().is_tracing(top()));
}

TEST_F(TriggerListsTest, AnEventThatGoesTakesItsRulesAlong) {
  ASSERT_EQ(apply(first_, "hist:keys=n"), 0);
  ASSERT_EQ(apply(first_, "!hist:keys=n"), 0);
  const std::uint64_t before = bytes_in_use();
  Event* const event = domain_->events().register_event("third u32 n", 0, kUser)->event;
  const std::uint64_t with_event = bytes_in_use();
  ASSERT_TRUE(rules_.filters().set(top(), *event, "n == 1 && n != 2"));
  ASSERT_TRUE(domain_->registrar().remove_event("third", kUser));
  EXPECT_EQ(bytes_in_use(), with_event) << "only its texts stay, for the records in the rings";
  EXPECT_GE(with_event, before);
}

}  // namespace
}  // namespace landtrace::rules
