#include "plan/emit.hpp"

#include <gmock/gmock.h>
#include <sched.h>
#include <sys/prctl.h>

#include "plan/test_domain.hpp"
#include "plan/written_lines.hpp"

namespace landtrace::plan {
namespace {

constexpr std::uint32_t kTid = TestDomain::kTid;

class EmitTest : public testing::Test {
 protected:
  TestDomain domain_;

  [[nodiscard]] std::size_t recorded(std::uint8_t instance = 0) const { return domain_.records(instance).size(); }
  // Whether an event with this payload gets through the gate.
  bool passes(const PlanStep& gate, std::string_view payload, const Thread& thread) {
    const PlanStep record = domain_.record();
    domain_.publish(kEvent, {gate, record});
    const std::size_t before = recorded();
    EXPECT_TRUE(domain_.happens(kEvent, payload, thread));
    return recorded() > before;
  }
  bool passes(const PlanStep& gate, std::string_view payload = {}) { return passes(gate, payload, domain_.thread()); }
};

TEST_F(EmitTest, NobodyListensToAnEventWithoutAPlan) {
  EXPECT_FALSE(is_enabled(domain_.view(), kEvent));
  EXPECT_FALSE(domain_.happens(kEvent, "unheard"));
}

TEST_F(EmitTest, ARecordSaysWhichEventHappenedInWhichThreadAndItsPayload) {
  domain_.publish(kEvent, {domain_.record()});
  EXPECT_TRUE(is_enabled(domain_.view(), kEvent));
  EXPECT_TRUE(domain_.happens(kEvent, "four"));
  EXPECT_EQ(domain_.records(), (std::vector<TestRecord>{{kEvent, kTid, "four"}}));
}

TEST_F(EmitTest, APayloadInPiecesIsOneRecord) {
  domain_.publish(kEvent, {domain_.record()});
  const Segment segments[] = {{"ab", 2}, {"cdef", 4}, {"gh", 2}};
  EXPECT_TRUE(emit(domain_.view(), domain_.thread(), kEvent, segments, 3, 8));
  EXPECT_EQ(domain_.records(), (std::vector<TestRecord>{{kEvent, kTid, "abcdefgh"}}));
}

TEST_F(EmitTest, WithRestartableSequencesItIsTheSame) {
  if (!arch::rseq_usable()) GTEST_SKIP() << "SKIPPED: no restartable sequences here";
  domain_.publish(kEvent, {domain_.record(0), domain_.record(1)});
  Thread thread = domain_.thread();
  thread.mode.area = arch::rseq_area();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(domain_.happens(kEvent, "four", thread));
  EXPECT_EQ(domain_.records(0), std::vector<TestRecord>(100, {kEvent, kTid, "four"}));
  EXPECT_EQ(domain_.records(1), std::vector<TestRecord>(100, {kEvent, kTid, "four"}));
}

TEST_F(EmitTest, EachInstanceGetsARecordOfItsOwn) {
  domain_.publish(kEvent, {domain_.record(0), domain_.record(1), domain_.record(2)});
  EXPECT_TRUE(domain_.happens(kEvent));
  for (std::uint8_t instance = 0; instance < 3; ++instance) EXPECT_EQ(recorded(instance), 1u);
}

// 4000 records of each: chunks begin, and rings of 256 KiB are written all around.
TEST_F(EmitTest, CpusWriteToNoCacheLineInCommon) {
  WrittenLines written(domain_);
  const std::uint32_t stop = domain_.new_cell();
  const std::uint32_t soft = domain_.new_cell();
  domain_.publish(kEvent, {domain_.record(0), domain_.soft(soft, 2), domain_.filter(domain_.first_word_is(5)),
                           domain_.record(1, stop)});
  const auto lines = written.of_each([&](const Thread& thread, std::uint32_t) {
    for (int i = 0; i < 4000; ++i) domain_.happens(kEvent, bytes_of(5u, i, std::uint64_t{7}, std::uint64_t{8}), thread);
  });
  // The slot, and of each ring its words, its marks and most of its data.
  for (const auto& each : lines) EXPECT_GT(each.size(), 2 * (4000 * 40 / WrittenLines::kLine));
  EXPECT_EQ(WrittenLines::shared(lines), 0u);
}

// A single event: the slot, the ring's words, and the record, which may lie on two lines.
TEST_F(EmitTest, AnEventWritesToFourCacheLinesAtMost) {
  WrittenLines written(domain_);
  domain_.publish(kEvent, {domain_.record()});
  const auto lines = written.of_each([&](const Thread& thread, std::uint32_t) {
    domain_.happens(kEvent, bytes_of(std::uint64_t{1}, std::uint64_t{2}), thread);
  });
  for (const auto& each : lines) EXPECT_THAT(each.size(), testing::AllOf(testing::Ge(2u), testing::Le(4u)));
  EXPECT_EQ(WrittenLines::shared(lines), 0u);
}

TEST_F(EmitTest, AStoppedInstanceRecordsNothingAndTheOthersGoOn) {
  const std::uint32_t stop = domain_.new_cell();
  domain_.publish(kEvent, {domain_.record(0, stop), domain_.record(1)});
  domain_.set_switch(stop, true);
  EXPECT_TRUE(domain_.happens(kEvent));
  EXPECT_EQ(recorded(0), 0u);
  EXPECT_EQ(recorded(1), 1u);
  domain_.set_switch(stop, false);
  EXPECT_TRUE(domain_.happens(kEvent));
  EXPECT_EQ(recorded(0), 1u);
}

TEST_F(EmitTest, ADeadOwnersPlansAreNotRun) {
  domain_.publish(kEvent, {domain_.record()});
  *reinterpret_cast<std::uint32_t*>(&domain_.control().owner_alive) = kOwnerDied;
  EXPECT_TRUE(owner_died(domain_.view()));
  EXPECT_FALSE(domain_.happens(kEvent));
  const Section section(domain_.data().threads[0]);
  EXPECT_FALSE(emit_in_instance(domain_.view(), domain_.thread(), 0, kEvent, nullptr, 0, 0));
  EXPECT_EQ(recorded(), 0u);
}

// -- gates ------------------------------------------------------------------------------------------------------------
TEST_F(EmitTest, ASoftDisabledEventIsHeardAndNotRecorded) {
  const std::uint32_t off = domain_.new_cell();
  EXPECT_TRUE(passes(domain_.soft(off)));
  domain_.set_switch(off, true);
  EXPECT_FALSE(passes(domain_.soft(off)));
}

TEST_F(EmitTest, OnlyListedThreadsGetThrough) {
  const std::vector<std::uint32_t> with{1, kTid, 99'999};
  const std::vector<std::uint32_t> without{1, 2, 99'999};
  EXPECT_TRUE(passes(domain_.threads(&with, {})));
  EXPECT_FALSE(passes(domain_.threads(&without, {})));
  const std::vector<std::uint32_t> nobody;
  EXPECT_FALSE(passes(domain_.threads(&nobody, {})));
}

TEST_F(EmitTest, ThreadsThatAreListedAsNeverDoNotGetThrough) {
  EXPECT_FALSE(passes(domain_.threads(nullptr, {1, kTid})));
  EXPECT_TRUE(passes(domain_.threads(nullptr, {1, 2})));
  // Both lists at once: one stands behind the other.
  const std::vector<std::uint32_t> only{kTid, kTid + 1};
  EXPECT_FALSE(passes(domain_.threads(&only, {kTid})));
  EXPECT_TRUE(passes(domain_.threads(&only, {kTid + 1})));
}

TEST_F(EmitTest, AFilterLooksAtThePayload) {
  const std::uint32_t program = domain_.first_word_is(42);
  EXPECT_TRUE(passes(domain_.filter(program), bytes_of(42)));
  EXPECT_FALSE(passes(domain_.filter(program), bytes_of(43)));
}

TEST_F(EmitTest, AFilterLooksAtTheEntrysHeader) {
  filter::Op op{};
  op.code = filter::OpCode::kHeaderRange;
  op.size = 2;
  op.low = 1000 + kEvent;  // common_type
  EXPECT_TRUE(passes(domain_.filter(domain_.program(op))));
  op.low = kEvent;
  EXPECT_FALSE(passes(domain_.filter(domain_.program(op))));
  op.size = 4;
  op.offset = 4;  // common_pid
  op.low = kTid;
  EXPECT_TRUE(passes(domain_.filter(domain_.program(op))));
}

TEST_F(EmitTest, AFilterLooksAtTheThreadsName) {
  char before[16];
  ::prctl(PR_GET_NAME, before);
  ::prctl(PR_SET_NAME, "emitter");
  EXPECT_TRUE(passes(domain_.filter(domain_.comm_is("emitter"))));
  EXPECT_FALSE(passes(domain_.filter(domain_.comm_is("somebody"))));
  ::prctl(PR_SET_NAME, before);
}

TEST_F(EmitTest, OfAProxyTheTaskTableHasTheName) {
  Thread proxy = domain_.thread();
  proxy.is_proxy = true;
  TaskEntry& task = domain_.data().tasks[kTid % kMaxTasks];
  task = {kTid, 60, "guest"};
  EXPECT_TRUE(passes(domain_.filter(domain_.comm_is("guest")), {}, proxy));
  // What stands there is not to be trusted: no NUL.
  std::memset(task.comm, 'x', sizeof task.comm);
  EXPECT_TRUE(passes(domain_.filter(domain_.comm_is(std::string(15, 'x'))), {}, proxy));
}

TEST_F(EmitTest, AFilterLooksAtTheCpu) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t here;
  CPU_ZERO(&here);
  const int cpu = ::sched_getcpu();
  CPU_SET(static_cast<unsigned>(cpu), &here);
  ASSERT_EQ(::sched_setaffinity(0, sizeof here, &here), 0);
  filter::Op op{};
  op.code = filter::OpCode::kCpuRange;
  op.size = 4;
  op.low = static_cast<std::uint64_t>(cpu);
  const std::uint32_t here_only = domain_.program(op, filter::Program::kUsesCpu);
  op.low = static_cast<std::uint64_t>(cpu) + 1;
  const std::uint32_t next_only = domain_.program(op, filter::Program::kUsesCpu);
  EXPECT_TRUE(passes(domain_.filter(here_only)));
  EXPECT_FALSE(passes(domain_.filter(next_only)));
  Thread restartable = domain_.thread();
  restartable.mode.area = arch::rseq_area();
  EXPECT_TRUE(passes(domain_.filter(here_only), {}, restartable));
  EXPECT_FALSE(passes(domain_.filter(next_only), {}, restartable));
  ::sched_setaffinity(0, sizeof before, &before);
}

TEST_F(EmitTest, OfAProxyTheCpuIsThatOfTheThreadItWritesFor) {
  Thread proxy = domain_.thread();
  proxy.is_proxy = true;
  filter::Op op{};
  op.code = filter::OpCode::kCpuRange;
  op.size = 4;
  op.low = 4711;
  const std::uint32_t only_there = domain_.program(op, filter::Program::kUsesCpu);
  proxy.mode.cpu = 4711;
  EXPECT_TRUE(passes(domain_.filter(only_there), {}, proxy));
  proxy.mode.cpu = 4712;
  EXPECT_FALSE(passes(domain_.filter(only_there), {}, proxy));
}

TEST_F(EmitTest, AFilterLooksAtFunctionsOfTheProcess) {
  const auto in_function_of = [&](std::uint32_t process) {
    const filter::FunctionRange range{process, 0, 0x1000, 0x2000};
    filter::Op op{};
    op.code = filter::OpCode::kFunction;
    op.size = 8;
    op.count = 1;
    return domain_.program(op, filter::Program::kUsesProcess, {reinterpret_cast<const char*>(&range), sizeof range});
  };
  const std::string inside = bytes_of(std::uint64_t{0x1800});
  EXPECT_TRUE(passes(domain_.filter(in_function_of(TestDomain::kPid)), inside));
  EXPECT_FALSE(passes(domain_.filter(in_function_of(60)), inside));
  Thread proxy = domain_.thread();
  proxy.is_proxy = true;
  domain_.data().tasks[kTid % kMaxTasks] = {kTid, 60, "guest"};
  EXPECT_TRUE(passes(domain_.filter(in_function_of(60)), inside, proxy));
  EXPECT_FALSE(passes(domain_.filter(in_function_of(TestDomain::kPid)), inside, proxy));
}

TEST_F(EmitTest, AClosedGateSkipsItsOwnInstanceAlone) {
  const std::uint32_t off = domain_.new_cell();
  const std::uint32_t program = domain_.first_word_is(42);
  domain_.set_switch(off, true);
  domain_.publish(kEvent, {domain_.soft(off, 2), domain_.filter(program), domain_.record(0),  //
                           domain_.record(1),                                                 //
                           domain_.soft(off, 1, 2), domain_.record(2)});
  EXPECT_TRUE(domain_.happens(kEvent, bytes_of(42)));
  EXPECT_EQ(recorded(0), 0u);
  EXPECT_EQ(recorded(1), 1u);
  EXPECT_EQ(recorded(2), 0u);
  domain_.set_switch(off, false);
  EXPECT_TRUE(domain_.happens(kEvent, bytes_of(41)));
  EXPECT_EQ(recorded(0), 0u);
  EXPECT_EQ(recorded(1), 2u);
  EXPECT_EQ(recorded(2), 1u);
  EXPECT_TRUE(domain_.happens(kEvent, bytes_of(42)));
  EXPECT_EQ(recorded(0), 1u);
}

// -- snapshots, instances, users --------------------------------------------------------------------------------------
TEST_F(EmitTest, TheParityOfACounterSaysWhichOfTwoRingSetsIsWrittenTo) {
  const std::uint32_t snapshots = domain_.new_cell();
  domain_.publish(kEvent,
                  {domain_.flip(snapshots), domain_.record(0, 0, 0), domain_.record(0, 0, 1), domain_.record(1)});
  EXPECT_TRUE(domain_.happens(kEvent, "even"));
  EXPECT_EQ(domain_.records(0, 0).size(), 1u);
  EXPECT_EQ(domain_.records(0, 1).size(), 0u);
  count(domain_.cell(snapshots));
  EXPECT_TRUE(domain_.happens(kEvent, "odd."));
  EXPECT_EQ(domain_.records(0, 0).size(), 1u);
  EXPECT_EQ(domain_.records(0, 1), (std::vector<TestRecord>{{kEvent, kTid, "odd."}}));
  EXPECT_EQ(recorded(1), 2u);
  domain_.cell(snapshots).others = 1;  // taken by another user's program
  EXPECT_TRUE(domain_.happens(kEvent, "even"));
  EXPECT_EQ(domain_.records(0, 0).size(), 2u);
}

TEST_F(EmitTest, WhereAStackIsWantedItStandsBehindTheEvent) {
  const std::uint32_t stop = domain_.new_cell();
  const std::uint32_t snapshots = domain_.new_cell();
  const auto with_stack = [](PlanStep step) {
    step.kind = StepKind::kRecordWithStack;
    return step;
  };
  const auto kinds = [&](std::uint8_t instance, std::uint32_t set = 0) {
    std::vector<std::uint32_t> events;
    for (const TestRecord& record : domain_.records(instance, set)) events.push_back(record.event);
    return events;
  };
  const std::vector<std::uint32_t> both = {kEvent, kUserStackSlot};
  domain_.publish(
      kEvent, {domain_.filter(domain_.first_word_is(42)), with_stack(domain_.record(0, stop)), domain_.record(1),
               domain_.flip(snapshots, 2), with_stack(domain_.record(2, 0, 0)), with_stack(domain_.record(2, 0, 1))});
  EXPECT_TRUE(domain_.happens(kEvent, bytes_of(42)));
  EXPECT_EQ(kinds(0), both);
  EXPECT_EQ(kinds(1), std::vector<std::uint32_t>{kEvent});
  EXPECT_EQ(kinds(2), both);
  domain_.set_switch(stop, true);
  count(domain_.cell(snapshots));
  EXPECT_TRUE(domain_.happens(kEvent, bytes_of(42)));
  EXPECT_EQ(kinds(0), both);
  EXPECT_EQ(kinds(2, 1), both);
  domain_.set_switch(stop, false);
  EXPECT_TRUE(domain_.happens(kEvent, bytes_of(41)));
  EXPECT_EQ(kinds(0), both);
}

TEST_F(EmitTest, InOneInstanceAloneItsOwnGatesHold) {
  const std::uint32_t off = domain_.new_cell();
  PlanStep gate = domain_.soft(off, 1, 2);
  domain_.publish(kEvent, {domain_.record(0), domain_.record(1), gate, domain_.record(2)});
  const auto happens_in = [&](std::uint32_t instance) {
    const Section section(domain_.data().threads[0]);
    const Segment segment{"four", 4};
    return emit_in_instance(domain_.view(), domain_.thread(), instance, kEvent, &segment, 1, 4);
  };
  EXPECT_TRUE(happens_in(1));
  EXPECT_TRUE(happens_in(2));
  EXPECT_EQ(recorded(0), 0u);
  EXPECT_EQ(recorded(1), 1u);
  EXPECT_EQ(domain_.records(2), (std::vector<TestRecord>{{kEvent, kTid, "four"}}));
  domain_.set_switch(off, true);
  EXPECT_TRUE(happens_in(2));
  EXPECT_EQ(recorded(2), 1u);
  EXPECT_FALSE(happens_in(3));
  domain_.control().events[kEvent].plan = 0;
  EXPECT_FALSE(happens_in(1));
}

TEST_F(EmitTest, RecordersTakeWhatHappensInOneInstanceAlone) {
  PlanStep recorder = domain_.record(1);
  recorder.instance |= PlanStep::kOfRecorder;
  domain_.publish(kEvent, {domain_.record(0), recorder, domain_.record(2)});
  const auto happens_in = [&](std::uint32_t instance) {
    const Section section(domain_.data().threads[0]);
    const Segment segment{"four", 4};
    return emit_in_instance(domain_.view(), domain_.thread(), instance, kEvent, &segment, 1, 4);
  };
  EXPECT_TRUE(happens_in(0));
  EXPECT_EQ(recorded(0), 1u);
  EXPECT_EQ(recorded(1), 1u);
  EXPECT_EQ(recorded(2), 0u);
  EXPECT_TRUE(happens_in(5)) << "where nobody but the recorder listens";
  EXPECT_EQ(recorded(1), 2u);
}

TEST_F(EmitTest, AnyEventCanBeRecordedWithoutAPlanOfItsOwn) {
  const PlanStep record = domain_.record(3);
  const Section section(domain_.data().threads[0]);
  const Segment segment{"mark", 4};
  record_in(domain_.view(), domain_.thread(), record, kPrintSlot, &segment, 1, 4);
  EXPECT_EQ(domain_.records(3), (std::vector<TestRecord>{{kPrintSlot, kTid, "mark"}}));
}

TEST_F(EmitTest, HowFarTheConsumerIsHoldsForOneUser) {
  domain_.publish(kEvent, {domain_.record()});
  domain_.set_consumed(1, 0);
  const std::string large(60'000, 'x');
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(domain_.happens(kEvent, large, domain_.thread(), 1));
  EXPECT_EQ(domain_.discarded(), 4u);  // 256 KiB hold four
  EXPECT_EQ(recorded(), 4u);
  EXPECT_TRUE(domain_.happens(kEvent, large, domain_.thread(), 0));
  EXPECT_EQ(domain_.discarded(), 4u);
}

TEST_F(EmitTest, ARecordForWhichNoRingCanBeClaimedIsCounted) {
  domain_.publish(kEvent, {domain_.record()});
  Thread thread = domain_.thread();
  const PlanStep step = domain_.record();
  auto* const ring = reinterpret_cast<ring::RingWords*>(reinterpret_cast<std::byte*>(&domain_.data()) + step.rings +
                                                        TestDomain::kCpus * step.geometry.stride);
  ring->claim = 99;
  EXPECT_TRUE(domain_.happens(kEvent, "lost", thread));
  EXPECT_EQ(domain_.discarded(), 1u);
  EXPECT_EQ(ring->claim, 99u);
  ring->claim = 0;
  EXPECT_TRUE(domain_.happens(kEvent, "kept", thread));
  EXPECT_EQ(recorded(), 1u);
  EXPECT_EQ(ring->claim, 0u);
}

}  // namespace
}  // namespace landtrace::plan
