#include "plan/histogram.hpp"

#include <dlfcn.h>
#include <sys/prctl.h>

#include <optional>

#include "hist/table.hpp"
#include "plan/test_domain.hpp"
#include "plan/written_lines.hpp"

namespace landtrace::plan {
namespace {

// Histograms with one key and no values, by hand.
class HistogramTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kElements = hist::kMinElements;
  static constexpr std::uint32_t kStride = 256;
  static constexpr std::uint32_t kTextKey = 16;

  // The event's first u32.
  static hist::Op first_word() { return {hist::OpCode::kField, 4, false, 0, 0, 0}; }
  static hist::Operand by_op() { return {hist::ValueType::kNumber, hist::Origin::kOps, 0, 0, 0, 1}; }
  static hist::Action trace(std::uint32_t target) {
    hist::Action action{};
    action.handler = hist::Handler::kOnMatch;
    action.deed = hist::Deed::kTrace;
    action.target = target;
    action.fixed_size = 8;
    action.max_size = 8;
    return action;
  }
  // Whenever the first op's number changes; `cell` counts.
  static hist::Action snapshot(std::uint32_t cell) {
    hist::Action action{};
    action.handler = hist::Handler::kOnChange;
    action.deed = hist::Deed::kSnapshot;
    action.tracked = by_op();
    action.tracked_at = 64;
    action.taken_at = 72;
    action.target = cell;
    return action;
  }

  std::uint32_t make(const hist::Operand& key, std::uint32_t key_size, const std::vector<hist::Op>& ops,
                     const std::vector<hist::Action>& actions = {}) {
    hist::TableLayout layout{};
    layout.elements = kElements;
    layout.stride = kStride;
    layout.key_size = key_size;
    layout.sets_at = layout.sums_at();
    layout.elements_at = sizeof(hist::TableHeader) + 8ull * layout.slots();
    layout.bytes = layout.elements_at + std::uint64_t{kElements} * kStride;
    layout_ = layout;
    table_ = domain_.reserve(layout.bytes);
    hist::HistPlan plan{};
    plan.table = table_;
    plan.layout = layout;
    plan.pause_cell = pause_;
    plan.event_pause_cell = event_pause_;
    plan.is_plain = is_plain_;
    plan.key_count = 1;
    plan.action_count = static_cast<std::uint32_t>(actions.size());
    plan.keys = sizeof plan;
    plan.ops = plan.keys + sizeof(hist::Key);
    plan.actions = plan.ops + static_cast<std::uint32_t>(ops.size() * sizeof(hist::Op));
    plan.params = plan.actions + static_cast<std::uint32_t>(actions.size() * sizeof(hist::Action));
    const std::uint32_t at = domain_.put(plan, std::vector<hist::Key>{{key, 0, key_size}});
    domain_.put(ops);
    domain_.put(actions);
    return at;
  }
  std::uint32_t make(const hist::Op& op, const std::vector<hist::Action>& actions = {}) {
    return make(by_op(), 8, {op}, actions);
  }
  void publish(std::uint32_t histogram, bool is_conditional = false) {
    const Trigger trigger{TriggerAction::kHistogram, false, 0, 0, 0, histogram, 0};
    domain_.publish(kEvent, {domain_.triggers({trigger}, is_conditional), domain_.record()});
  }
  void happens(std::uint32_t number) { EXPECT_TRUE(domain_.happens(kEvent, bytes_of(number))); }

  [[nodiscard]] hist::Table table() const { return {reinterpret_cast<std::byte*>(&domain_.data()) + table_, layout_}; }
  // How often the key, which is the words, was counted; nothing where it is not there.
  [[nodiscard]] std::optional<std::uint64_t> hits(const std::vector<std::uint64_t>& key) const {
    const std::byte* const element = table().find(key.data());
    if (element == nullptr) return std::nullopt;
    return hist::detail::load_word(element + layout_.hitcount_at());
  }

  TestDomain domain_;
  std::uint32_t pause_ = domain_.new_cell();
  std::uint32_t event_pause_ = domain_.new_cell();
  bool is_plain_ = false;
  hist::TableLayout layout_{};
  std::uint64_t table_ = 0;
};

TEST_F(HistogramTest, EventsAreCountedByKeyAndRecorded) {
  publish(make(first_word()));
  for (const std::uint32_t number : {5u, 6u, 5u}) happens(number);
  EXPECT_EQ(hits({5}), 2u);
  EXPECT_EQ(hits({6}), 1u);
  EXPECT_EQ(hits({7}), std::nullopt);
  EXPECT_EQ(domain_.records().size(), 3u);
}

TEST_F(HistogramTest, TheEntrysHeaderIsAsTheEventsIdAndThreadSay) {
  publish(make({hist::OpCode::kHeader, 2, false, 0, 0, 0}));
  happens(0);
  EXPECT_EQ(hits({1000 + kEvent}), 1u);
  publish(make({hist::OpCode::kHeader, 4, false, 0, 4, 0}));
  happens(0);
  EXPECT_EQ(hits({TestDomain::kTid}), 1u);
}

TEST_F(HistogramTest, TheThreadsNameIsAKey) {
  char before[16];
  ::prctl(PR_GET_NAME, before);
  ::prctl(PR_SET_NAME, "counted");
  publish(make({hist::ValueType::kText, hist::Origin::kComm, 0, 0, 0, 0}, kTextKey, {}));
  happens(0);
  ::prctl(PR_SET_NAME, before);
  std::vector<std::uint64_t> key(2);
  std::memcpy(key.data(), "counted", 7);
  EXPECT_EQ(hits(key), 1u);
}

TEST_F(HistogramTest, TheThreadsStackIsAKey) {
  publish(make({hist::ValueType::kStack, hist::Origin::kThread, 0, 0, 0, 0}, hist::kStackSize, {}));
  happens(0);
  ASSERT_EQ(table().header().taken, 1u);
  const std::byte* const element = table().element(0);
  EXPECT_EQ(hist::detail::load_word(element + layout_.hitcount_at()), 1u);
  Dl_info nearest{};
  EXPECT_NE(::dladdr(reinterpret_cast<void*>(hist::detail::load_word(element)), &nearest), 0);
}

// -- pauses -----------------------------------------------------------------------------------------------------------
TEST_F(HistogramTest, APausedHistogramCountsNothing) {
  publish(make(first_word()));
  domain_.set_switch(pause_, true);
  happens(5);
  EXPECT_EQ(hits({5}), std::nullopt);
  domain_.set_switch(pause_, false);
  happens(5);
  EXPECT_EQ(hits({5}), 1u);
}

TEST_F(HistogramTest, OfItsOwnSwitchAndTheEventsTheNewestThrowCounts) {
  publish(make(first_word()));
  throw_now(domain_.cell(event_pause_), true, 10);
  happens(5);
  EXPECT_EQ(hits({5}), std::nullopt);
  throw_now(domain_.cell(pause_), false, 20);
  happens(5);
  EXPECT_EQ(hits({5}), 1u);
  throw_now(domain_.cell(event_pause_), true, 30);
  happens(5);
  EXPECT_EQ(hits({5}), 1u);
  throw_now(domain_.cell(event_pause_), false, 40);
  throw_now(domain_.cell(pause_), true, 50);
  happens(5);
  EXPECT_EQ(hits({5}), 1u);
}

TEST_F(HistogramTest, WithoutSwitchesItIsNeverPaused) {
  pause_ = 0;
  event_pause_ = 0;
  publish(make(first_word()));
  happens(5);
  EXPECT_EQ(hits({5}), 1u);
}

// -- as a step of the plan --------------------------------------------------------------------------------------------
// Of both kinds that there are.
class HistogramStepTest : public HistogramTest, public testing::WithParamInterface<bool> {
 protected:
  HistogramStepTest() { is_plain_ = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Kinds, HistogramStepTest, testing::Bool(),
                         [](const auto& kind) { return kind.param ? "Plain" : "Any"; });

TEST_P(HistogramStepTest, ItCountsBeforeTheGatesWhateverTheseDo) {
  const std::uint32_t off = domain_.new_cell();
  domain_.publish(kEvent, {domain_.histogram(make(first_word())), domain_.soft(off), domain_.record()});
  happens(5);
  domain_.set_switch(off, true);
  happens(5);
  happens(6);
  EXPECT_EQ(hits({5}), 2u);
  EXPECT_EQ(hits({6}), 1u);
  EXPECT_EQ(domain_.records(), (std::vector<TestRecord>{{kEvent, TestDomain::kTid, bytes_of(5)}}));
}

TEST_P(HistogramStepTest, ItsFilterIsItsOwn) {
  domain_.publish(kEvent, {domain_.histogram(make(first_word()), domain_.first_word_is(6)), domain_.record()});
  for (const std::uint32_t number : {5u, 6u, 5u}) happens(number);
  EXPECT_EQ(hits({5}), std::nullopt);
  EXPECT_EQ(hits({6}), 1u);
  EXPECT_EQ(domain_.records().size(), 3u);
}

TEST_P(HistogramStepTest, PausedItCountsNothing) {
  domain_.publish(kEvent, {domain_.histogram(make(first_word())), domain_.record()});
  domain_.set_switch(pause_, true);
  happens(5);
  EXPECT_EQ(hits({5}), std::nullopt);
  domain_.set_switch(pause_, false);
  happens(5);
  EXPECT_EQ(hits({5}), 1u);
}

TEST_P(HistogramStepTest, WhatStandsBehindTheRecordIsRunWhereTheGateIsClosed) {
  const std::uint32_t off = domain_.new_cell();
  domain_.publish(kEvent, {domain_.soft(off), domain_.record(), domain_.histogram(make(first_word()))});
  happens(5);
  domain_.set_switch(off, true);
  happens(5);
  EXPECT_EQ(hits({5}), 2u);
  EXPECT_EQ(domain_.records().size(), 1u);
}

TEST_P(HistogramStepTest, EachInstanceHasItsOwn) {
  const std::uint32_t off = domain_.new_cell();
  domain_.set_switch(off, true);
  const std::uint32_t one = make(first_word());
  const std::uint64_t first_table = table_;
  const std::uint32_t other = make(first_word());
  domain_.publish(kEvent, {domain_.histogram(one), domain_.soft(off), domain_.record(),
                           domain_.histogram(other, 0, 1), domain_.record(1)});
  happens(5);
  EXPECT_EQ(hits({5}), 1u);
  EXPECT_EQ(domain_.records(1).size(), 1u);
  const std::string payload = bytes_of(5u);
  const Segment segment{payload.data(), payload.size()};
  EXPECT_TRUE(emit_in_instance(domain_.view(), domain_.thread(), 1, kEvent, &segment, 1, sizeof(std::uint32_t)));
  EXPECT_EQ(hits({5}), 2u);
  table_ = first_table;
  EXPECT_EQ(hits({5}), 1u) << "of what happens in the other one alone it sees nothing";
  EXPECT_EQ(domain_.records(1).size(), 2u);
}

// As a marker's newline is.
TEST_P(HistogramStepTest, WhatTheEventsTriggersDoNotLookAtIsNotThere) {
  domain_.publish(kEvent, {domain_.histogram(make(first_word())), domain_.record()});
  const std::uint32_t number = 5;
  const Segment segments[] = {{nullptr, 0}, {&number, sizeof number}};
  View view = domain_.view();
  EXPECT_TRUE(emit(view, domain_.thread(), kEvent, segments, 2, sizeof number));
  EXPECT_EQ(hits({5}), 1u);
  view.unseen = 1;
  EXPECT_TRUE(emit(view, domain_.thread(), kEvent, segments, 2, sizeof number));
  EXPECT_EQ(hits({5}), 1u);
  EXPECT_EQ(hits({0}), 1u);
}

TEST_F(HistogramTest, WhatAStepBehindTheRecordMakesStandsBehindTheEvent) {
  domain_.publish(kMade, {domain_.record()});
  domain_.publish(kEvent, {domain_.record(), domain_.histogram(make(first_word(), {trace(kMade)}))});
  happens(5);
  EXPECT_EQ(domain_.events(), (std::vector<std::uint32_t>{kEvent, kMade}));
}

// -- what it makes ----------------------------------------------------------------------------------------------------
TEST_F(HistogramTest, WhatItMakesStandsBehindTheEventWhereThatIsLookedAt) {
  domain_.publish(kMade, {domain_.record()});
  publish(make(first_word(), {trace(kMade)}), true);
  happens(5);
  EXPECT_EQ(domain_.records(), (std::vector<TestRecord>{{kEvent, TestDomain::kTid, bytes_of(5)},
                                                        {kMade, TestDomain::kTid, std::string(8, '\0')}}));
}

// By restartable sequences, with the raw clock as the key. A few events may be interrupted in between.
class HeldTimeTest : public HistogramTest {
 protected:
  static constexpr std::size_t kEvents = 100;

  void SetUp() override {
    if (!arch::rseq_usable() || arch::best_raw_clock() != arch::RawClock::kTsc) {
      GTEST_SKIP() << "SKIPPED: no restartable sequences here";
    }
  }
  std::uint32_t make_by_time(std::uint8_t clock, const std::vector<hist::Action>& actions) {
    return make({hist::OpCode::kTimestamp, 8, false, clock, 0, 1}, actions);
  }
  void happen() {
    Thread thread = domain_.thread();
    thread.mode.area = arch::rseq_area();
    for (std::size_t i = 0; i < kEvents; ++i) EXPECT_TRUE(domain_.happens(kEvent, bytes_of(0u), thread));
    times_ = domain_.times();
  }
  // Of the record and the event, both counted from 0.
  [[nodiscard]] bool is_at(std::size_t record, std::uint32_t event) const {
    return times_[record] == hist::detail::load_word(table().element(event));
  }

  std::vector<std::uint64_t> times_;
};

TEST_F(HeldTimeTest, WhatAnEventMakesHasItsTime) {
  domain_.publish(kMade, {domain_.record()});
  domain_.publish(kEvent, {domain_.histogram(make_by_time(hist::kRawClock, {trace(kMade)}))});
  happen();
  ASSERT_EQ(times_.size(), kEvents);
  std::size_t held = 0;
  for (std::uint32_t i = 0; i < kEvents; ++i) held += is_at(i, i);
  EXPECT_GT(held, kEvents / 2);
}

TEST_F(HeldTimeTest, AlsoWhereItsHistogramLooksAtTheSystemsClock) {
  domain_.publish(kMade, {domain_.record()});
  const std::uint32_t by_time = make_by_time(CLOCK_MONOTONIC, {trace(kMade)});
  domain_.publish(kEvent, {domain_.histogram(by_time)});
  const std::uint64_t before = arch::read_raw_clock(arch::RawClock::kTsc);
  happen();
  ASSERT_EQ(times_.size(), kEvents);
  EXPECT_LT(before, times_.front());
  EXPECT_LT(times_.back(), arch::read_raw_clock(arch::RawClock::kTsc));
  EXPECT_TRUE(std::is_sorted(times_.begin(), times_.end()));
}

TEST_F(HeldTimeTest, TheSecondThatItMakesIsLater) {
  domain_.publish(kMade, {domain_.record()});
  domain_.publish(kEvent, {domain_.histogram(make_by_time(hist::kRawClock, {trace(kMade), trace(kMade)}))});
  happen();
  ASSERT_EQ(times_.size(), 2 * kEvents);
  for (std::size_t i = 1; i < times_.size(); ++i) EXPECT_LT(times_[i - 1], times_[i]);
  std::size_t held = 0;
  for (std::uint32_t i = 0; i < kEvents; ++i) held += is_at(2 * i, i);
  EXPECT_GT(held, kEvents / 2);
}

// The kernel need not tell of a thread that was interrupted in a call.
TEST_F(HeldTimeTest, NothingIsHeldOverASystemCall) {
  char name[16];
  ::prctl(PR_GET_NAME, name);
  domain_.publish(kMade, {domain_.filter(domain_.comm_is(name)), domain_.record()});
  domain_.publish(kEvent, {domain_.histogram(make_by_time(hist::kRawClock, {trace(kMade)}))});
  happen();
  ASSERT_EQ(times_.size(), kEvents);
  for (std::uint32_t i = 0; i < kEvents; ++i) EXPECT_FALSE(is_at(i, i));
}

TEST_F(HeldTimeTest, NorOverASnapshotOfWhichTheOwnerIsTold) {
  domain_.control().user_count = 2;
  domain_.publish(kMade, {domain_.record()});
  const hist::Action first = snapshot(domain_.new_cell());
  domain_.publish(kEvent, {domain_.histogram(make_by_time(hist::kRawClock, {first, trace(kMade)}))});
  happen();
  ASSERT_EQ(times_.size(), kEvents);
  for (std::uint32_t i = 0; i < kEvents; ++i) EXPECT_FALSE(is_at(i, i));
}

// Which has triggers, and is recorded nowhere.
TEST_F(HeldTimeTest, NorOverWhatAnEventThatItMakesDoes) {
  constexpr std::uint32_t kOther = 9;
  domain_.control().user_count = 2;
  const Trigger taking_one{TriggerAction::kSnapshot, false, 0, domain_.new_cell(), 0, 0, 0};
  const std::uint32_t stopped = domain_.new_cell();
  domain_.set_switch(stopped, true);
  domain_.publish(kMade, {domain_.triggers({taking_one}, false), domain_.record(0, stopped)});
  domain_.publish(kOther, {domain_.record()});
  domain_.publish(kEvent, {domain_.histogram(make_by_time(hist::kRawClock, {trace(kMade), trace(kOther)}))});
  happen();
  ASSERT_EQ(times_.size(), kEvents);
  for (std::uint32_t i = 0; i < kEvents; ++i) EXPECT_FALSE(is_at(i, i));
}

TEST_F(HeldTimeTest, NothingIsArmedBehindTheEvent) {
  domain_.publish(kEvent, {domain_.histogram(make_by_time(hist::kRawClock, {trace(kMade)}))});
  Thread thread = domain_.thread();
  thread.mode.area = arch::rseq_area();
  EXPECT_TRUE(domain_.happens(kEvent, bytes_of(0u), thread));
  EXPECT_EQ(thread.mode.area->rseq_cs, 0u);
}

TEST_F(HistogramTest, WhatNobodyListensToIsNotLost) {
  publish(make(first_word(), {trace(kMade)}), true);
  happens(5);
  EXPECT_EQ(domain_.records().size(), 1u);
  EXPECT_EQ(table().header().lost, 0u);
}

TEST_F(HistogramTest, OneThatMakesTheEventThatItCountsEndsAndTheRestIsCountedAsLost) {
  publish(make(first_word(), {trace(kEvent)}), true);
  happens(0);
  EXPECT_EQ(domain_.events(), std::vector<std::uint32_t>(1 + kMaxNesting, kEvent));
  EXPECT_EQ(hits({0}), 1u + kMaxNesting);
  EXPECT_EQ(table().header().lost, 1u);
  happens(0);
  EXPECT_EQ(table().header().lost, 2u);
}

// Also where the elements lie one behind the other, and with the event that is made of it.
TEST_F(HistogramTest, CpusThatCountDifferentKeysWriteToNoCacheLineInCommon) {
  WrittenLines written(domain_);
  domain_.publish(kMade, {domain_.record(1)});
  publish(make(first_word(), {trace(kMade)}));
  const auto lines = written.of_each([&](const Thread& thread, std::uint32_t writer) {
    for (int i = 0; i < 1000; ++i) domain_.happens(kEvent, bytes_of(writer), thread);
  });
  for (std::uint32_t key = 0; key < WrittenLines::kWriters; ++key) EXPECT_EQ(hits({key}), 2000u);
  EXPECT_EQ(domain_.records(1).size(), 2000u * WrittenLines::kWriters);
  EXPECT_EQ(WrittenLines::shared(lines), 0u);
}

// The test itself: one key is one line, which its writers do share.
TEST_F(HistogramTest, CpusThatCountOneKeyShareItsElement) {
  WrittenLines written(domain_);
  publish(make(first_word()));
  const auto lines = written.of_each(
      [&](const Thread& thread, std::uint32_t) { domain_.happens(kEvent, bytes_of(5u), thread); });
  const std::size_t pairs = WrittenLines::kWriters * (WrittenLines::kWriters - 1) / 2;
  EXPECT_EQ(WrittenLines::shared(lines), pairs);
}

TEST_F(HistogramTest, AnEventOutsideTheTableIsNotMade) {
  publish(make(first_word(), {trace(kMaxEvents)}), true);
  happens(0);
  EXPECT_EQ(domain_.records().size(), 1u);
  EXPECT_EQ(table().header().lost, 1u);
}

TEST_F(HistogramTest, ASnapshotIsCountedAndTheOwnerTold) {
  const std::uint32_t snapshots = domain_.new_cell();
  domain_.control().user_count = 2;
  publish(make(first_word(), {snapshot(snapshots)}), true);
  happens(5);
  EXPECT_EQ(counted(domain_.cell(snapshots)), 1u);
  EXPECT_EQ(domain_.data().attention, 1u);
  happens(5);
  EXPECT_EQ(counted(domain_.cell(snapshots)), 1u);
}

// The table is writable for all programs of the user.
TEST_F(HistogramTest, NoNumberInTheTableLeadsOutOfIt) {
  publish(make(first_word()));
  auto* const slots =
      reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::byte*>(&table().header()) + sizeof(hist::TableHeader));
  std::fill_n(slots, layout_.slots(), ~0ull);
  happens(5);
  table().header().taken = ~0ull;
  table().header().spare = ~0ull;
  std::fill_n(slots, layout_.slots(), 0);
  happens(5);
  EXPECT_EQ(domain_.records().size(), 2u);
  EXPECT_EQ(table().header().dropped, 2u);
}

}  // namespace
}  // namespace landtrace::plan
