#include "hist/evaluate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "hist/test_histogram.hpp"

namespace landtrace::hist {
namespace {

using testing::ElementsAre;

struct Sample {
  std::uint32_t id;
  std::int32_t delta;
  std::uint64_t value;
  char name[8];
};

HistPlanDescription by_id() {
  HistPlanDescription what;
  what.elements = 128;
  what.keys.push_back(number({field(0, 4)}));
  return what;
}

std::string text_of(std::span<const std::byte> key, std::size_t at, std::size_t size) {
  const auto* const text = reinterpret_cast<const char*>(key.data()) + at;
  return {text, ::strnlen(text, size)};
}
std::uint64_t number_of(std::span<const std::byte> bytes, std::size_t at = 0) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// What an expression is for an event with this value.
std::uint64_t computed(HistExpression ops, const Sample& sample = {1, -5, 100, "a"}) {
  TestMemory memory;
  HistPlanDescription what = by_id();
  what.values.push_back(number(std::move(ops)));
  TestHistogram histogram(memory, what);
  histogram.happen(sample);
  return histogram.row(sample.id).sums[0];
}

TEST(HistEvaluateTest, HitsAndSumsAreCountedByKey) {
  TestMemory memory;
  HistPlanDescription what = by_id();
  what.values = {number({field(8, 8)}), number({field(4, 4, true)})};
  TestHistogram histogram(memory, what);
  histogram.happen(Sample{1, -1, 100, "a"});
  histogram.happen(Sample{1, -2, 200, "a"});
  histogram.happen(Sample{2, 3, 50, "b"});
  EXPECT_EQ(histogram.contents().hits, 3u);
  EXPECT_EQ(histogram.row(1).hitcount, 2u);
  EXPECT_THAT(histogram.row(1).sums, ElementsAre(300, static_cast<std::uint64_t>(-3)));
  EXPECT_THAT(histogram.row(2).sums, ElementsAre(50, 3));
}

TEST(HistEvaluateTest, FieldsOfAllSizesAreWidenedWithTheirSign) {
  const auto at = static_cast<std::uint32_t>(offsetof(Sample, delta));
  EXPECT_EQ(computed({field(at, 4, true)}), static_cast<std::uint64_t>(-5));
  EXPECT_EQ(computed({field(at, 4)}), 0xfffffffbu);
  EXPECT_EQ(computed({field(at, 2, true)}), static_cast<std::uint64_t>(-5));
  EXPECT_EQ(computed({field(at, 2)}), 0xfffbu);
  EXPECT_EQ(computed({field(at, 1, true)}), static_cast<std::uint64_t>(-5));
  EXPECT_EQ(computed({field(at, 1)}), 0xfbu);
  EXPECT_EQ(computed({field(200, 8)}), 0u);  // behind the payload
  EXPECT_EQ(computed({field(~0u, 8)}), 0u);
}

// What counts plain ones and what counts all others.
TEST(HistEvaluateTest, PlainOnesCountAsAllOthersWould) {
  TestMemory memory;
  HistPlanDescription what = by_id();
  what.keys[0] = number({field(4, 4, true)});
  what.values = {number({field(8, 8)}), number({field(2, 2, true)}), number({field(13, 1)})};
  TestHistogram plain(memory, what), other(memory, what);
  ASSERT_TRUE(plain.plan().is_plain);
  other.make_general();
  std::string payload(24, '\0');
  std::uint32_t random = 1;
  for (int i = 0; i < 5000; ++i) {
    for (char& byte : payload) byte = static_cast<char>((random = random * 1664525 + 1013904223) >> 24);
    // More keys than there is room for, and some come again; none may be short.
    payload.replace(4, 4, std::string("\xff\xff\xff", 3) + static_cast<char>(i % 200));
    const std::size_t size = i % 25, cut = size * static_cast<std::size_t>(i % 7) / 7;
    const arch::Segment segments[] = {{payload.data(), cut}, {payload.data() + cut, size - cut}};
    plain.happen_in(segments, 2);
    other.happen_in(segments, 2);
  }
  const TableContents got = plain.contents(), wanted = other.contents();
  EXPECT_EQ(got.hits, wanted.hits);
  EXPECT_EQ(got.dropped, wanted.dropped);
  EXPECT_GT(got.dropped, 0u);
  ASSERT_EQ(got.rows.size(), 128u);
  for (const TableRow& row : wanted.rows) {
    const TableRow mine = plain.row(number_of(row.key));
    EXPECT_EQ(mine.hitcount, row.hitcount);
    EXPECT_THAT(mine.sums, testing::ElementsAreArray(row.sums));
  }
}

TEST(HistEvaluateTest, ArithmeticIsTheKernels) {
  const Op v = field(8, 8);
  EXPECT_EQ(computed({v, constant(23), op(OpCode::kAdd)}), 123u);
  EXPECT_EQ(computed({v, constant(101), op(OpCode::kSubtract)}), ~0ull);
  EXPECT_EQ(computed({v, constant(3), op(OpCode::kMultiply)}), 300u);
  EXPECT_EQ(computed({v, constant(7), op(OpCode::kDivide)}), 14u);
  EXPECT_EQ(computed({v, constant(0), op(OpCode::kDivide)}), ~0ull);
  EXPECT_EQ(computed({v, op(OpCode::kNegate)}), static_cast<std::uint64_t>(-100));
  // (v - 4) * (v / 10) + 1
  EXPECT_EQ(computed({v, constant(4), op(OpCode::kSubtract), v, constant(10), op(OpCode::kDivide),
                      op(OpCode::kMultiply), constant(1), op(OpCode::kAdd)}),
            961u);
}

TEST(HistEvaluateTest, SmallNumbersDividedByAConstantAreRoundedUp) {
  const auto divided = [](std::uint64_t dividend, std::uint64_t divisor) {
    return computed({constant(dividend), constant(divisor), divide(divisor)});
  };
  EXPECT_EQ(divided(10, 255), 1u);
  EXPECT_EQ(divided(9, 3), 3u);
  EXPECT_EQ(divided(10, 3), 4u);
  EXPECT_EQ(divided(0, 3), 0u);
  EXPECT_EQ(divided(10, 4), 2u) << "a power of two";
  EXPECT_EQ(divided((1u << 20) - 1, 3), 349525u);
  EXPECT_EQ(divided(1u << 20, 3), 349525u);
  EXPECT_EQ(divided(10, (1u << 20) + 1), 0u);
}

TEST(HistEvaluateTest, Log2IsThatOfTheNextPowerOfTwo) {
  const std::pair<std::uint64_t, std::uint64_t> known[] = {
      {0, 0}, {1, 0}, {2, 1}, {3, 2}, {50, 6}, {64, 6}, {65, 7}, {100, 7}, {200, 8}, {4096, 12}, {8589934592, 33}};
  for (const auto& [value, bits] : known) EXPECT_EQ(computed({constant(value), op(OpCode::kLog2)}), bits) << value;
}

TEST(HistEvaluateTest, StepsKeepTheLeadingBits) {
  const auto step = [](std::uint64_t value, std::uint64_t steps_log2) {
    return computed({constant(value), {OpCode::kLog2, 8, false, 0, 0, steps_log2}});
  };
  const std::pair<std::uint64_t, std::uint64_t> of_32[] = {{0, 0},
                                                           {1, 1},
                                                           {63, 63},
                                                           {64, 64},
                                                           {65, 64},
                                                           {66, 66},
                                                           {1023, 1008},
                                                           {1024, 1024},
                                                           {1055, 1024},
                                                           {1056, 1056},
                                                           {(1ull << 63) - 1, 63ull << 57}};
  for (const auto& [value, first] : of_32) EXPECT_EQ(step(value, 5), first) << value;
  EXPECT_EQ(step(7, 1), 6u);
  EXPECT_EQ(step(1ull << 63, 5), 0u) << "as log2 has no power of two";
  EXPECT_EQ(step(static_cast<std::uint64_t>(-1), 5), 0u);
  EXPECT_EQ(step((1ull << 63) - 1, 62), (1ull << 63) - 1);
}

TEST(HistEvaluateTest, Log2OfWhatHasNoNextPowerOfTwoIsZero) {
  const std::pair<std::uint64_t, std::uint64_t> known[] = {
      {1ull << 63, 63}, {(1ull << 63) + 1, 0}, {static_cast<std::uint64_t>(-1), 0}};
  for (const auto& [value, bits] : known) EXPECT_EQ(computed({constant(value), op(OpCode::kLog2)}), bits) << value;
}

TEST(HistEvaluateTest, BucketsBeginAtMultiplesOfTheirWidth) {
  const std::pair<std::uint64_t, std::uint64_t> known[] = {
      {0, 0}, {99, 0}, {100, 100}, {199, 100}, {8589934592, 8589934500}};
  for (const auto& [value, begin] : known) EXPECT_EQ(computed({constant(value), bucket(100)}), begin) << value;
}

TEST(HistEvaluateTest, TheHeaderAndTheCpuAreFieldsToo) {
  EXPECT_EQ(computed({header(0, 2)}), 0x4001u);
  EXPECT_EQ(computed({header(4, 4, true)}), 0x929u);
  EXPECT_EQ(computed({cpu()}), 3u);
}

TEST(HistEvaluateTest, AnEventHappensAtOneTime) {
  EXPECT_EQ(computed({timestamp(CLOCK_MONOTONIC), timestamp(CLOCK_MONOTONIC), op(OpCode::kSubtract)}), 0u);
  const std::uint64_t before = arch::monotonic_ns();
  const std::uint64_t us = computed({timestamp(CLOCK_MONOTONIC, 1000)});
  const std::uint64_t raw = computed({timestamp(kRawClock)});
  EXPECT_GE(us, before / 1000);
  EXPECT_LE(us, arch::monotonic_ns() / 1000);
  EXPECT_GE(raw, before);
}

// -- keys -----------------------------------------------------------------------------------------------------------
TEST(HistEvaluateTest, KeysAreMadeOfNumbersAndTexts) {
  TestMemory memory;
  HistPlanDescription what = by_id();
  what.keys.push_back(static_text(16, 8));
  what.keys.push_back(comm());
  TestHistogram histogram(memory, what);
  histogram.happen(Sample{1, 0, 0, {'a', '\0', 'x', 'y'}});
  histogram.happen(Sample{1, 0, 0, "a"});
  histogram.happen(Sample{1, 0, 0, "b"});
  const TableContents contents = histogram.contents();
  ASSERT_EQ(contents.rows.size(), 2u);
  EXPECT_EQ(contents.rows[0].hitcount, 2u);  // what is behind a text's end is no part of it
  EXPECT_EQ(text_of(contents.rows[0].key, 8, 8), "a");
  EXPECT_EQ(text_of(contents.rows[1].key, 8, 8), "b");
  EXPECT_EQ(text_of(contents.rows[0].key, 16, kCommSize), "tester");
}

TEST(HistEvaluateTest, ATextThatFillsItsFieldLosesItsLastByte) {
  TestMemory memory;
  HistPlanDescription what = by_id();
  what.keys = {static_text(16, 8)};
  TestHistogram histogram(memory, what);
  Sample sample{1, 0, 0, ""};
  std::memcpy(sample.name, "abcdefgh", 8);
  histogram.happen(sample);
  EXPECT_EQ(text_of(histogram.contents().rows[0].key, 0, 8), "abcdefg");
}

TEST(HistEvaluateTest, DynamicTextsAreFoundByTheirLocations) {
  struct {
    std::uint32_t data_loc = 4 << 16 | (8 + 8);
    std::uint32_t rel_loc = 3 << 16 | 4;
    char text[8] = "abc";
    char more[4] = {'d', 'e', '\0', '\0'};
  } const payload;
  TestMemory memory;
  HistPlanDescription what = by_id();
  what.keys = {dynamic(ValueType::kText, Origin::kDataLoc, 0)};
  TestHistogram data(memory, what);
  what.keys = {dynamic(ValueType::kText, Origin::kRelLoc, 4)};
  TestHistogram rel(memory, what);
  data.happen(payload);
  rel.happen(payload);
  EXPECT_EQ(text_of(data.contents().rows[0].key, 0, kTextSize), "abc");
  EXPECT_EQ(text_of(rel.contents().rows[0].key, 0, kTextSize), "");  // 4 behind its end: the NULs behind abc
  EXPECT_EQ(data.contents().rows[0].key.size(), kTextSize);
}

TEST(HistEvaluateTest, LocationsThatLieReadNothing) {
  TestMemory memory;
  HistPlanDescription what = by_id();
  what.keys = {dynamic(ValueType::kText, Origin::kDataLoc, 0)};
  TestHistogram histogram(memory, what);
  for (const std::uint32_t location : {0u, ~0u, 0xffff0000u, 0xffffu, 0x00100007u, 0x0100fff0u}) {
    histogram.happen(location);
  }
  EXPECT_EQ(histogram.contents().hits, 6u);
  EXPECT_EQ(text_of(histogram.contents().rows[0].key, 0, kTextSize), "");
}

TEST(HistEvaluateTest, AStackIsAKey) {
  TestMemory memory;
  HistPlanDescription what = by_id();
  what.keys = {thread_stack()};
  TestHistogram histogram(memory, what);
  histogram.happen(Sample{});
  histogram.happen(Sample{});
  histogram.surroundings.stack = {0x1000};
  histogram.happen(Sample{});
  const TableContents contents = histogram.contents();
  ASSERT_EQ(contents.rows.size(), 2u);
  EXPECT_EQ(contents.rows[0].key.size(), kStackSize);
  EXPECT_EQ(number_of(contents.rows[1].key, 8), 0x2000u);
  EXPECT_EQ(contents.rows[1].hitcount, 2u);
  EXPECT_EQ(number_of(contents.rows[0].key, 8), 0u);
}

TEST(HistEvaluateTest, AnElementRemembersWhoMadeIt) {
  TestMemory memory;
  HistPlanDescription what = by_id();
  what.has_comm = true;
  TestHistogram histogram(memory, what);
  histogram.happen(Sample{1, 0, 0, ""});
  std::strcpy(histogram.surroundings.name, "another");
  histogram.happen(Sample{1, 0, 0, ""});
  histogram.happen(Sample{2, 0, 0, ""});
  EXPECT_EQ(histogram.row(1).comm, "tester");
  EXPECT_EQ(histogram.row(2).comm, "another");
}

TEST(HistEvaluateTest, APayloadInPiecesIsTheSame) {
  TestMemory memory;
  HistPlanDescription what = by_id();
  what.keys.push_back(static_text(16, 8));
  what.values = {number({field(8, 8)})};
  TestHistogram histogram(memory, what);
  const Sample sample{1, 2, 0x1122334455667788, "abc"};
  const auto* const bytes = reinterpret_cast<const std::byte*>(&sample);
  for (std::size_t cut = 0; cut <= sizeof sample; ++cut) {
    const arch::Segment segments[] = {{bytes, cut}, {bytes, 0}, {bytes + cut, sizeof sample - cut}};
    histogram.happen_in(segments, 3);
  }
  ASSERT_EQ(histogram.contents().rows.size(), 1u);
  EXPECT_EQ(histogram.row(1).sums[0], (sizeof sample + 1) * sample.value);
  EXPECT_EQ(text_of(histogram.row(1).key, 8, 8), "abc");
}

// -- variables --------------------------------------------------------------------------------------------------------
HistPlanDescription starting() {
  HistPlanDescription what = by_id();
  what.variables = {number({field(8, 8)}), static_text(16, 8), thread_stack()};
  return what;
}

TEST(HistEvaluateTest, VariablesKeepTheirLastValues) {
  TestMemory memory;
  TestHistogram histogram(memory, starting());
  histogram.happen(Sample{1, 0, 10, "one"});
  histogram.happen(Sample{1, 0, 20, "two"});
  const TableRow row = histogram.row(1);
  EXPECT_TRUE(row.variables[0].is_set);
  EXPECT_EQ(row.variables[0].number, 20u);
  EXPECT_EQ(row.variables[1].text, "two");
  EXPECT_THAT(row.variables[2].stack, ElementsAre(0x1000, 0x2000));
}

TEST(HistEvaluateTest, AnEventWhoseReferencesAreNotThereDoesNothing) {
  TestMemory memory;
  TestHistogram start(memory, starting());
  HistPlanDescription what = by_id();
  what.references = {start.refer(0, true)};
  what.values = {number({field(8, 8), reference(0), op(OpCode::kSubtract)})};
  TestHistogram end(memory, what);
  end.happen(Sample{1, 0, 100, ""});
  EXPECT_EQ(end.contents().rows.size(), 0u);
  start.happen(Sample{1, 0, 30, ""});
  end.happen(Sample{2, 0, 100, ""});
  end.happen(Sample{1, 0, 100, ""});
  EXPECT_EQ(end.contents().hits, 1u);
  EXPECT_EQ(end.row(1).sums[0], 70u);
  end.happen(Sample{1, 0, 200, ""});  // was read once
  EXPECT_EQ(end.contents().hits, 1u);
  EXPECT_FALSE(start.row(1).variables[0].is_set);
}

TEST(HistEvaluateTest, AReferenceThatIsNotReadOnceStays) {
  TestMemory memory;
  TestHistogram start(memory, starting());
  HistPlanDescription what = by_id();
  what.references = {start.refer(0, false)};
  what.values = {number({reference(0)})};
  TestHistogram end(memory, what);
  start.happen(Sample{1, 0, 30, ""});
  end.happen(Sample{1, 0, 0, ""});
  end.happen(Sample{1, 0, 0, ""});
  EXPECT_EQ(end.row(1).sums[0], 60u);
}

TEST(HistEvaluateTest, AReferenceBeyondThisEventsKeyIsNotThere) {
  TestMemory memory;
  HistPlanDescription longer = starting();
  longer.keys.push_back(number({field(4, 4)}));
  TestHistogram start(memory, longer);
  HistPlanDescription what = by_id();
  what.references = {start.refer(0, false)};
  TestHistogram shorter(memory, what);
  what.keys.push_back(number({field(4, 4)}));
  what.keys.push_back(number({field(8, 8)}));
  TestHistogram longest(memory, what);
  start.happen(Sample{1, 0, 30, ""});
  shorter.happen(Sample{1, 0, 30, ""});
  longest.happen(Sample{1, 0, 99, ""});
  EXPECT_EQ(shorter.contents().hits, 0u);
  EXPECT_EQ(longest.contents().hits, 1u);
}

TEST(HistEvaluateTest, OfManyThatReadAVariableOnceOneGetsIt) {
  TestMemory memory;
  TestHistogram start(memory, starting());
  HistPlanDescription what = by_id();
  what.references = {start.refer(0, true)};
  TestHistogram end(memory, what);
  constexpr int kRounds = 20000;
  std::atomic<int> round = 0;
  std::atomic<int> arrived = 0;
  const auto run = [&] {
    TestSurroundings surroundings;
    const Sample sample{1, 0, 1, ""};
    for (int i = 1; i <= kRounds; ++i) {
      while (round.load() < i) std::this_thread::yield();
      Moment moment(arch::RawClock::kMonotonic);
      const arch::Segment segment{&sample, sizeof sample};
      hist::count(end.plan(), memory.data(), {{&segment, 1}, 0, moment, surroundings});
      ++arrived;
    }
  };
  std::thread one(run);
  std::thread two(run);
  for (int i = 1; i <= kRounds; ++i) {
    start.happen(Sample{1, 0, 5, ""});
    round = i;
    while (arrived.load() < 2 * i) std::this_thread::yield();
  }
  one.join();
  two.join();
  EXPECT_EQ(end.contents().hits, std::uint64_t{kRounds});
}

// -- actions ----------------------------------------------------------------------------------------------------------
TEST(HistEvaluateTest, OnMatchMakesAnEventOfNumbersTextsAndStacks) {
  TestMemory memory;
  TestHistogram start(memory, starting());
  HistPlanDescription what = by_id();
  what.references = {start.refer(0, true), start.refer(1, false), start.refer(2, false)};
  what.variables = {number({field(8, 8), reference(0), op(OpCode::kSubtract)}), static_text(16, 8)};
  HistActionDescription trace;
  trace.target = 77;
  trace.fixed_size = 6 * 8;
  trace.params = {
      {number({variable(0)}), 0, 4, false},
      {of_reference(ValueType::kText, 1), 8, 0, true},
      {of_variable(ValueType::kText, 1), 16, 8, false},
      {of_reference(ValueType::kStack, 2), 24, 0, true},
      {comm(), 32, 16, false},
  };
  what.actions = {trace};
  TestHistogram end(memory, what);
  start.happen(Sample{1, 0, 30, "begin"});
  end.happen(Sample{1, 0, 100, "end"});
  ASSERT_EQ(end.surroundings.made.size(), 1u);
  const auto& made = end.surroundings.made[0];
  EXPECT_EQ(made.slot, 77u);
  EXPECT_EQ(number_of(made.payload, 0), 70u);
  EXPECT_EQ(text_of(made.payload, 16, 8), "end");
  EXPECT_EQ(text_of(made.payload, 32, 16), "tester");
  const auto text_at = static_cast<std::uint32_t>(number_of(made.payload, 8));
  EXPECT_EQ(text_at >> 16, 6u);
  EXPECT_EQ(text_of(made.payload, (text_at & 0xffff) - 8, 6), "begin");
  const auto stack_at = static_cast<std::uint32_t>(number_of(made.payload, 24));
  EXPECT_EQ(stack_at >> 16, 16u);
  EXPECT_EQ((stack_at & 0xffff) % 8, 0u);
  EXPECT_EQ(number_of(made.payload, (stack_at & 0xffff) - 8 + 8), 0x2000u);
  EXPECT_EQ(made.payload.size(), (stack_at & 0xffff) - 8 + 16);
}

TEST(HistEvaluateTest, TheLargestEventFits) {
  TestMemory memory;
  HistPlanDescription what = by_id();
  HistActionDescription trace;
  trace.fixed_size = 8 * 15;
  const std::string text(400, 'x');
  for (std::uint32_t i = 0; i < 15; ++i) trace.params.push_back({static_text(4, 256), 8 * i, 0, true});
  what.actions = {trace};
  TestHistogram histogram(memory, what);
  histogram.happen(text.data(), text.size());
  ASSERT_EQ(histogram.surroundings.made.size(), 1u);
  EXPECT_EQ(histogram.surroundings.made[0].payload.size(), 15u * 8 + 15 * 256);
}

TEST(HistEvaluateTest, EventsThatCannotBeMadeAreCounted) {
  TestMemory memory;
  HistPlanDescription what = by_id();
  HistActionDescription trace;
  trace.fixed_size = 8;
  what.actions = {trace};
  TestHistogram histogram(memory, what);
  histogram.surroundings.is_deep = true;
  histogram.happen(Sample{});
  EXPECT_EQ(histogram.contents().lost, 1u);
}

HistPlanDescription tracking(Handler handler, Deed deed) {
  HistPlanDescription what = by_id();
  what.variables = {number({field(8, 8)})};
  HistActionDescription action;
  action.handler = handler;
  action.deed = deed;
  action.tracked = number({variable(0)});
  action.target = 9;
  if (deed == Deed::kSave)
    action.params = {{static_text(16, 8), 0, 0, false}, {number({field(4, 4, true)}), 0, 0, false}};
  what.actions = {action};
  return what;
}

TEST(HistEvaluateTest, OnMaxSavesWhatStoodBesideTheLargestValue) {
  TestMemory memory;
  TestHistogram histogram(memory, tracking(Handler::kOnMax, Deed::kSave));
  histogram.happen(Sample{1, -1, 0, "zero"});
  EXPECT_FALSE(histogram.row(1).actions[0].saved[0].is_set);  // no more than there was
  histogram.happen(Sample{1, -2, 50, "fifty"});
  histogram.happen(Sample{1, -3, 40, "forty"});
  histogram.happen(Sample{1, -4, 50, "again"});
  histogram.happen(Sample{2, -5, 1, "other"});
  const TableRow row = histogram.row(1);
  EXPECT_EQ(row.actions[0].tracked, 50u);
  EXPECT_EQ(row.actions[0].saved[0].text, "fifty");
  EXPECT_EQ(row.actions[0].saved[1].number, static_cast<std::uint64_t>(-2));
  EXPECT_EQ(histogram.row(2).actions[0].saved[0].text, "other");
}

TEST(HistEvaluateTest, OnChangeLooksForAnotherValue) {
  TestMemory memory;
  TestHistogram histogram(memory, tracking(Handler::kOnChange, Deed::kSave));
  histogram.happen(Sample{1, 0, 50, "fifty"});
  histogram.happen(Sample{1, 0, 50, "again"});
  EXPECT_EQ(histogram.row(1).actions[0].saved[0].text, "fifty");
  histogram.happen(Sample{1, 0, 40, "forty"});
  EXPECT_EQ(histogram.row(1).actions[0].saved[0].text, "forty");
  EXPECT_EQ(histogram.row(1).actions[0].tracked, 40u);
}

TEST(HistEvaluateTest, ASnapshotIsTakenForTheLargestValueOfAllKeys) {
  TestMemory memory;
  TestHistogram histogram(memory, tracking(Handler::kOnMax, Deed::kSnapshot));
  EXPECT_FALSE(histogram.contents().snapshots[0].is_taken);
  histogram.happen(Sample{1, 0, 50, ""});
  histogram.happen(Sample{2, 0, 40, ""});  // the largest of its key, not of all
  EXPECT_THAT(histogram.surroundings.snapshots, ElementsAre(9));
  histogram.happen(Sample{2, 0, 60, ""});
  histogram.happen(Sample{1, 0, 55, ""});
  EXPECT_THAT(histogram.surroundings.snapshots, ElementsAre(9, 9));
  const SnapshotTaken taken = histogram.contents().snapshots[0];
  EXPECT_TRUE(taken.is_taken);
  EXPECT_EQ(taken.value, 60u);
  EXPECT_EQ(number_of(taken.key), 2u);
}

// -- several users
// ------------------------------------------------------------------------------------------------------
TEST(HistReaderTest, TablesOfSeveralUsersAreAddedUpByKey) {
  TestMemory one;
  TestMemory two;
  HistPlanDescription what = tracking(Handler::kOnMax, Deed::kSave);
  what.values = {number({field(8, 8)})};
  TestHistogram first(one, what);
  TestHistogram second(two, what);
  first.happen(Sample{1, 0, 50, "fifty"});
  first.happen(Sample{2, 0, 1, ""});
  second.happen(Sample{1, 0, 70, "seventy"});
  second.happen(Sample{3, 0, 1, ""});
  std::byte* const segments[] = {one.data(), two.data()};
  const TableContents contents = read_tables(first.plan(), segments);
  ASSERT_EQ(contents.rows.size(), 3u);
  EXPECT_EQ(contents.hits, 4u);
  EXPECT_EQ(contents.rows[0].hitcount, 2u);
  EXPECT_EQ(contents.rows[0].sums[0], 120u);
  EXPECT_EQ(contents.rows[0].actions[0].saved[0].text, "seventy");
}

}  // namespace
}  // namespace landtrace::hist
