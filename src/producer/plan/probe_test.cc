#include "plan/probe.hpp"

#include <sched.h>

#include <cstring>
#include <thread>

#include "plan/test_domain.hpp"

namespace landtrace::plan {
namespace {

constexpr std::uint32_t kSlot = 3;
constexpr std::uint32_t kGeneration = 5;
constexpr std::uint64_t kPlaceAt = 0x401136;

// Probes put together by hand, hit with registers that no thread has.
class ProbeTest : public testing::Test {
 protected:
  void SetUp() override {
    domain_.publish(kMade, {domain_.record()});
    domain_.publish(kEvent, {domain_.record()});
    domain_.control().probes[kSlot].generation = kGeneration;
    for (std::uint64_t i = 0; i < kRegisters; ++i) registers_[i] = 0x1000 + i;
    registers_[kRsp] = reinterpret_cast<std::uint64_t>(stack_);
  }
  static EventProbeArg arg(EventProbeSource source, std::uint8_t size, std::uint32_t at = 0, std::uint64_t number = 0) {
    EventProbeArg made{};
    made.source = source;
    made.size = size;
    made.at = at;
    made.number = number;
    return made;
  }
  ProbeHook hook(const std::vector<EventProbeArg>& given, std::uint32_t header, ProbeSide side = ProbeSide::kEntry,
                 std::uint16_t figure = 1, std::uint32_t event = kMade) {
    EventProbePlan plan{};
    plan.event = event;
    plan.header = header;
    plan.values_size = header;
    plan.arg_count = static_cast<std::uint32_t>(given.size());
    std::vector<EventProbeArg> args = given;
    for (EventProbeArg& one : args) {
      one.target = plan.values_size;
      plan.values_size += one.size;
    }
    return {domain_.put(plan, args), figure, side, side};
  }
  void set_hooks(const std::vector<ProbeHook>& hooks, std::uint32_t needs = 0) {
    domain_.control().probes[kSlot].hooks =
        domain_.put(ProbeHooks{static_cast<std::uint32_t>(hooks.size()), needs}, hooks);
  }
  void hit(ProbeSide side = ProbeSide::kEntry, std::uint32_t generation = kGeneration) {
    const Section section(domain_.data().threads[0]);
    const bool is_entry = side == ProbeSide::kEntry;
    hit_probe(domain_.view(), domain_.thread(),
              {kSlot,
               generation,
               side,
               {registers_, kPlaceAt, 0x999, is_entry ? nullptr : kept_},
               is_entry ? kept_ : nullptr,
               &guess_});
  }
  // The made event's filter: whether the number at `offset` of its payload, less `low`, is at most `span`.
  void set_filter(filter::OpCode code, std::uint32_t offset, std::uint64_t low, std::uint64_t span,
                  bool passes = true) {
    filter::Op op{};
    op.code = code;
    op.offset = offset;
    op.low = low;
    op.span = span;
    op.on_match = passes ? filter::Op::kPass : filter::Op::kReject;
    op.on_mismatch = passes ? filter::Op::kReject : filter::Op::kPass;
    filter::Program program{};
    program.version = filter::kProgramVersion;
    program.op_count = 1;
    program.min_size = offset + op.range_size();
    const PlanStep gate = domain_.filter(domain_.put(program, std::vector<filter::Op>{op}));
    domain_.publish(kMade, {gate, domain_.record()});
  }
  // So that what comes later stands behind it: records are read ring by ring.
  static void stay_on_this_cpu() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  bool is_recorded() {
    const std::size_t before = domain_.records().size();
    hit();
    return domain_.records().size() != before;
  }
  void miss(ProbeSide side = ProbeSide::kEntry) {
    const Section section(domain_.data().threads[0]);
    miss_probe(domain_.view(), domain_.thread(), kSlot, kGeneration, side);
  }
  std::string made() {
    const auto records = domain_.records();
    return records.empty() ? "nothing" : records.back().payload;
  }
  ProbeFigure figure(std::uint16_t number) {
    ProbeFigure sum{};
    for (const auto& row : domain_.data().probe_figures) {
      sum.hits += row[number].hits;
      sum.missed += row[number].missed;
    }
    return sum;
  }

  TestDomain domain_;
  ProbeGuess guess_{};
  std::uint64_t registers_[kRegisters];
  std::uint64_t kept_[kKeptWords] = {0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0, kNeedsArguments};
  std::uint64_t stack_[4] = {0xaa, 0xbb, 0xcc, 0xdd};
};

TEST_F(ProbeTest, AHitIsAnEventOfItsPlaceAndItsRegisters) {
  set_hooks({hook({arg(EventProbeSource::kRegister, 4, kRdi), arg(EventProbeSource::kRegister, 8, kR15)}, 8)});
  hit();
  EXPECT_EQ(made(), bytes_of(kPlaceAt, static_cast<std::uint32_t>(0x1000 + kRdi), std::uint64_t{0x1000}));
  EXPECT_EQ(figure(1).hits, 1u);
  EXPECT_EQ(figure(1).missed, 0u);
}

// Whatever changes between two hits, and whatever a guess says.
TEST_F(ProbeTest, AGuessIsOnlyAGuess) {
  stay_on_this_cpu();
  const ProbeHook one = hook({arg(EventProbeSource::kRegister, 4, kRdi)}, 0, ProbeSide::kEntry, 1, kMade);
  const ProbeHook other = hook({arg(EventProbeSource::kRegister, 4, kRsi)}, 0, ProbeSide::kEntry, 2, kEvent);
  const auto expect_made = [this](std::uint32_t number) {
    hit();
    EXPECT_EQ(made(), bytes_of(number));
  };
  set_hooks({one});
  for (int i = 0; i < 3; ++i) expect_made(0x1000 + kRdi);
  EXPECT_EQ(guess_.probe, one.plan);
  EXPECT_EQ(guess_.event, kMade);
  EXPECT_EQ(guess_.plan, domain_.control().events[kMade].plan);
  set_hooks({other});
  for (int i = 0; i < 2; ++i) expect_made(0x1000 + kRsi);
  EXPECT_EQ(figure(1).hits, 3u);
  EXPECT_EQ(figure(2).hits, 2u);

  const ProbeGuess sound = guess_;
  for (std::uint32_t ProbeGuess::*const part :
       {&ProbeGuess::hooks, &ProbeGuess::probe, &ProbeGuess::event, &ProbeGuess::plan}) {
    for (const std::uint32_t wrong : {0u, 1u, sound.*part + 8, ~0u}) {
      guess_.*part = wrong;
      expect_made(0x1000 + kRsi);
      EXPECT_EQ(guess_.*part, sound.*part);
    }
  }
  EXPECT_EQ(figure(2).hits, 18u);

  const std::size_t before = domain_.records().size();
  domain_.control().events[kEvent].plan = 0;
  hit();
  set_hooks({});
  hit();
  domain_.control().probes[kSlot].hooks = 0;
  hit();
  EXPECT_EQ(domain_.records().size(), before);
  EXPECT_EQ(figure(2).hits, 19u);
}

// Of several hooks the first one's is remembered, and all are run.
TEST_F(ProbeTest, EachHookMakesItsOwnEventHoweverOften) {
  stay_on_this_cpu();
  set_hooks({hook({arg(EventProbeSource::kRegister, 4, kRdi)}, 0, ProbeSide::kReturn, 1, kEvent),
             hook({arg(EventProbeSource::kRegister, 4, kRsi)}, 0, ProbeSide::kEntry, 2, kMade),
             hook({arg(EventProbeSource::kRegister, 4, kRdx)}, 0, ProbeSide::kEntry, 3, kEvent)});
  for (std::size_t i = 1; i <= 3; ++i) {
    hit();
    EXPECT_EQ(domain_.records().size(), 2 * i);
    EXPECT_EQ(domain_.records()[2 * i - 2].payload, bytes_of(std::uint32_t{0x1000 + kRsi}));
    EXPECT_EQ(domain_.records()[2 * i - 1].payload, bytes_of(std::uint32_t{0x1000 + kRdx}));
    EXPECT_EQ(guess_.event, kMade);
  }
}

TEST_F(ProbeTest, AReturnSaysWhereItGoes) {
  set_hooks({hook({arg(EventProbeSource::kRegister, 8, kRax)}, 16, ProbeSide::kReturn)});
  hit();
  EXPECT_EQ(made(), "nothing");
  hit(ProbeSide::kReturn);
  EXPECT_EQ(made(), bytes_of(kPlaceAt, std::uint64_t{0x999}, std::uint64_t{0x1000 + kRax}));
}

TEST_F(ProbeTest, WordsOfTheStackAndPlacesNearTheProbeAreArguments) {
  set_hooks({hook({arg(EventProbeSource::kStackWord, 8, 0, 2), arg(EventProbeSource::kPlace, 8, 0, 0x10),
                   arg(EventProbeSource::kRegister, 8, kRsp), arg(EventProbeSource::kRegister, 8, kRegisters)},
                  0)});
  hit();
  EXPECT_EQ(made(), bytes_of(std::uint64_t{0xcc}, kPlaceAt + 0x10, registers_[kRsp], std::uint64_t{0}));
}

TEST_F(ProbeTest, AReturnKnowsTheArgumentsOfItsCall) {
  set_hooks({hook({arg(EventProbeSource::kKept, 8, 0, 0), arg(EventProbeSource::kKept, 2, 0, 5),
                   arg(EventProbeSource::kKept, 2, 0, 6)},
                  0, ProbeSide::kReturn)});
  hit(ProbeSide::kReturn);
  EXPECT_EQ(made(), bytes_of(std::uint64_t{0x71}, std::uint16_t{0x76}, std::uint16_t{0}));
}

TEST_F(ProbeTest, AnArgumentThatItsCallDidNotLeaveIsZero) {
  kept_[kKeptWhich] = kNeedsTime;
  set_hooks({hook({arg(EventProbeSource::kKept, 8, 0, 0)}, 0, ProbeSide::kReturn)}, kNeedsArguments);
  hit(ProbeSide::kReturn);
  EXPECT_EQ(made(), bytes_of(std::uint64_t{0}));
}

TEST_F(ProbeTest, ACallLeavesWhatItsReturnWants) {
  const std::vector<ProbeHook> hooks = {hook({}, 8, ProbeSide::kReturn)};
  kept_[kKeptWhich] = 99;
  hit();
  EXPECT_EQ(kept_[kKeptWhich], 0u);
  set_hooks(hooks);
  hit();
  EXPECT_EQ(kept_[0], 0x71u);
  EXPECT_EQ(kept_[kKeptTime], 0u);
  EXPECT_EQ(kept_[kKeptWhich], 0u);
  set_hooks(hooks, kNeedsArguments);
  hit();
  EXPECT_EQ(kept_[0], 0x1000u + kRdi);
  EXPECT_EQ(kept_[3], 0x1000u + kRcx);
  EXPECT_EQ(kept_[5], 0x1000u + kR9);
  EXPECT_EQ(kept_[kKeptTime], 0u);
  EXPECT_EQ(kept_[kKeptWhich], kNeedsArguments);
  const std::uint64_t before = arch::read_raw_clock(domain_.thread().mode.clock);
  set_hooks(hooks, kNeedsTime);
  hit();
  EXPECT_GE(kept_[kKeptTime], before);
  EXPECT_EQ(kept_[kKeptWhich], kNeedsTime);
}

TEST_F(ProbeTest, AReturnKnowsHowLongItsCallTook) {
  arch::CounterLine line{};
  arch::CounterLinePainter().refresh(line);
  arch::set_counter_line(&line);
  for (const std::uint32_t more : {0u, kMaxWordPayload}) {  // in line, and not
    std::vector<EventProbeArg> args = {arg(EventProbeSource::kElapsed, 8)};
    for (std::uint32_t i = 0; i < more / 8; ++i) args.push_back(arg(EventProbeSource::kRegister, 8, kRax));
    set_hooks({hook(args, 0, ProbeSide::kReturn)}, kNeedsTime);
    const std::size_t before = domain_.records().size();
    kept_[kKeptWhich] = kNeedsArguments;
    hit(ProbeSide::kReturn);
    EXPECT_EQ(domain_.records().size(), before) << "of a call that began before anybody asked";
    const std::uint64_t begin = arch::monotonic_ns();
    hit();
    while (arch::monotonic_ns() - begin < 1'000'000) continue;
    hit(ProbeSide::kReturn);
    const std::uint64_t whole = arch::monotonic_ns() - begin;
    ASSERT_EQ(domain_.records().size(), before + 1);
    std::uint64_t elapsed = 0;
    std::memcpy(&elapsed, made().data(), sizeof elapsed);
    EXPECT_GE(elapsed, 990'000u);
    EXPECT_LE(elapsed, whole + whole / 100);
  }
  arch::set_counter_line(nullptr);
}

TEST_F(ProbeTest, AFilterOnARegisterRefusesAndLetsThrough) {
  using enum filter::OpCode;
  registers_[kRdi] = 0xffff'ffff'0000'1234;
  for (const auto& [code, size] : {std::pair{kRange64, 8}, {kRange32, 4}, {kRange16, 2}, {kRange8, 1}}) {
    const std::uint64_t value = size == 8 ? registers_[kRdi] : registers_[kRdi] & ((1ull << 8 * size) - 1);
    set_hooks({hook({arg(EventProbeSource::kRegister, 8, kRsi),
                     arg(EventProbeSource::kRegister, static_cast<std::uint8_t>(size), kRdi)},
                    8)});
    for (const bool passes : {true, false}) {
      set_filter(code, 16, value, 0, passes);
      EXPECT_EQ(is_recorded(), passes) << size;
      set_filter(code, 16, value - 1, 1, passes);
      EXPECT_EQ(is_recorded(), passes) << size;
      set_filter(code, 16, value + 1, 0, passes);
      EXPECT_EQ(is_recorded(), !passes) << size;
      set_filter(code, 16, value - 2, 1, passes);
      EXPECT_EQ(is_recorded(), !passes) << size;
    }
  }
  EXPECT_EQ(figure(1).hits, 32u) << "also of those that are refused";
}

TEST_F(ProbeTest, AFilterOnSomethingElseThanARegisterRefusesAndLetsThrough) {
  using enum filter::OpCode;
  set_hooks({hook({arg(EventProbeSource::kRegister, 4, kRsi), arg(EventProbeSource::kRegister, 4, kRdi),
                   arg(EventProbeSource::kPlace, 8)},
                  8)});
  set_filter(kRange64, 0, kPlaceAt, 0);
  EXPECT_TRUE(is_recorded()) << "what stands before the values";
  set_filter(kRange64, 0, kPlaceAt + 1, 0);
  EXPECT_FALSE(is_recorded());
  set_filter(kRange64, 16, kPlaceAt, 0);
  EXPECT_TRUE(is_recorded());
  set_filter(kRange64, 16, kPlaceAt + 1, 0);
  EXPECT_FALSE(is_recorded());
  set_filter(kRange64, 8, (0x1000ull + kRdi) << 32 | (0x1000 + kRsi), 0);
  EXPECT_TRUE(is_recorded()) << "two registers as one number";
  set_filter(kRange32, 10, (0x1000ull + kRdi) << 16, 0);
  EXPECT_TRUE(is_recorded()) << "parts of two registers";
}

// Another instance, whose filter it is not, records it.
TEST_F(ProbeTest, AFilterOfOneInstanceRefusesForThatOneAlone) {
  set_hooks({hook({arg(EventProbeSource::kRegister, 8, kRdi)}, 8)});
  set_filter(filter::OpCode::kRange64, 8, 0, 1);
  EXPECT_FALSE(is_recorded());
  const Plan& one = *control_at<Plan>(domain_.view(), domain_.control().events[kMade].plan);
  domain_.publish(kMade, {one.steps()[0], one.steps()[1], domain_.record()});
  EXPECT_TRUE(is_recorded());
}

TEST_F(ProbeTest, ManyRegistersAreAsGoodAsFew) {
  std::vector<EventProbeArg> args;
  std::string expected = bytes_of(kPlaceAt);
  for (std::uint32_t i = 0; i < 40; ++i) {
    set_hooks({hook(args, 8)});
    hit();
    EXPECT_EQ(made(), expected) << i;
    args.push_back(arg(EventProbeSource::kRegister, 8, i % kRegisters));
    expected += bytes_of(registers_[i % kRegisters]);
  }
}

TEST_F(ProbeTest, EachHookOfThatSideRuns) {
  set_hooks({hook({}, 8, ProbeSide::kEntry, 1), hook({}, 16, ProbeSide::kReturn, 2),
             hook({arg(EventProbeSource::kRegister, 8, kRsi)}, 8, ProbeSide::kEntry, 3, kEvent)});
  hit();
  EXPECT_EQ(domain_.records().size(), 2u);
  EXPECT_EQ(figure(1).hits, 1u);
  EXPECT_EQ(figure(2).hits, 0u);
  EXPECT_EQ(figure(3).hits, 1u);
}

TEST_F(ProbeTest, NobodyListensWithoutHooksOrToAnotherPlacesOrWhenTheOwnerIsDead) {
  hit();
  EXPECT_EQ(made(), "nothing");
  set_hooks({hook({}, 8)});
  hit(ProbeSide::kEntry, kGeneration - 1);
  EXPECT_EQ(made(), "nothing");
  *reinterpret_cast<std::uint32_t*>(&domain_.control().owner_alive) = kOwnerDied;
  hit();
  miss();
  EXPECT_EQ(made(), "nothing");
  EXPECT_EQ(figure(1).hits, 0u);
  EXPECT_EQ(figure(1).missed, 0u);
}

TEST_F(ProbeTest, AReturnMayCountWhenItsFunctionIsCalled) {
  ProbeHook back = hook({}, 16, ProbeSide::kReturn);
  back.counted = ProbeSide::kEntry;
  set_hooks({back});
  hit();
  EXPECT_EQ(made(), "nothing");
  EXPECT_EQ(figure(1).hits, 1u);
  hit(ProbeSide::kReturn);
  EXPECT_NE(made(), "nothing");
  EXPECT_EQ(figure(1).hits, 1u);
}

TEST_F(ProbeTest, AnEventThatNobodyEnabledIsCountedAndNoMore) {
  domain_.control().events[kMade].plan = 0;
  set_hooks({hook({}, 8)});
  hit();
  EXPECT_EQ(made(), "nothing");
  EXPECT_EQ(figure(1).hits, 1u);
}

TEST_F(ProbeTest, WhatIsMissedIsCountedForItsSide) {
  set_hooks({hook({}, 8, ProbeSide::kEntry, 1), hook({}, 16, ProbeSide::kReturn, 2)});
  miss(ProbeSide::kReturn);
  miss(ProbeSide::kReturn);
  EXPECT_EQ(figure(1).missed, 0u);
  EXPECT_EQ(figure(2).missed, 2u);
  EXPECT_EQ(figure(2).hits, 0u);
  EXPECT_EQ(made(), "nothing");
}

// Threads on all CPUs, each with its own restartable sequences.
TEST_F(ProbeTest, NoHitIsCountedTwiceOrLostBetweenThreads) {
  if (!arch::rseq_usable()) GTEST_SKIP() << "no restartable sequences here";
  constexpr std::uint64_t kHits = 200'000;
  domain_.control().events[kMade].plan = 0;
  set_hooks({hook({}, 8)});
  std::vector<std::thread> threads;
  for (std::uint32_t i = 1; i <= 4; ++i) {
    threads.emplace_back([&, i] {
      Thread thread = domain_.thread();
      thread.slot = &domain_.data().threads[i];
      thread.mode.area = arch::rseq_area();
      for (std::uint64_t n = 0; n < kHits; ++n) {
        const Section section(*thread.slot);
        hit_probe(domain_.view(), thread, {kSlot, kGeneration, ProbeSide::kEntry, {registers_, kPlaceAt, 0, nullptr}});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(figure(1).hits, 4 * kHits);
}

// Operands of instructions, as USDT places have them: each is extended to the value's size.
TEST_F(ProbeTest, PartsOfRegistersAndMemoryBesideThem) {
  registers_[kRax] = 0xffff'ffff'8000'fe81;
  registers_[kRbx] = reinterpret_cast<std::uint64_t>(stack_);
  registers_[kRcx] = 2;
  stack_[2] = 0x1122'3344'fffe'8001;
  const auto part = [](std::uint8_t bytes, bool is_signed, std::uint64_t shift = 0) {
    EventProbeArg one = arg(EventProbeSource::kPartOfRegister, 8, kRax, shift);
    one.source_size = bytes;
    one.is_signed = is_signed ? 1 : 0;
    return one;
  };
  const auto load = [](std::uint32_t where, std::uint64_t distance, std::uint8_t bytes, bool is_signed) {
    EventProbeArg one = arg(EventProbeSource::kLoad, 8, where, distance);
    one.source_size = bytes;
    one.is_signed = is_signed ? 1 : 0;
    return one;
  };
  set_hooks(
      {hook({part(1, false), part(1, true), part(1, true, 8), part(2, true), part(4, false), part(4, true),
             part(8, true), load(operand_word(kRbx, kRegisters, 1), 16, 2, true),
             load(operand_word(kRbx, kRegisters, 1), 16, 2, false), load(operand_word(kRbx, kRcx, 8), 0, 8, false),
             load(operand_word(kRbx, kRcx, 4), 8, 4, true), load(operand_word(kRegisters, kRcx, 8), 0, 4, true)},
            0)});
  hit();
  const auto word = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  EXPECT_EQ(made(), bytes_of(word(0x81), word(-127), word(-2), word(-383), word(0x8000fe81), word(-2147418495),
                             word(-2147418495), word(-32767), word(0x8001), stack_[2],
                             word(static_cast<std::int32_t>(0xfffe8001)), word(0)));
}

TEST_F(ProbeTest, MemoryBesideThePlaceAndWhatIsNotThere) {
  static const std::int32_t here = -77;
  const std::uint64_t distance = reinterpret_cast<std::uint64_t>(&here) - kPlaceAt;
  EventProbeArg global = arg(EventProbeSource::kLoad, 4, operand_word(kRip, kRegisters, 1), distance);
  global.source_size = 4;
  EventProbeArg gone = arg(EventProbeSource::kLoad, 4, operand_word(kRegisters, kRegisters, 1), 16);
  gone.source_size = 4;
  set_hooks({hook({global, gone}, 0)});
  hit();
  EXPECT_EQ(made(), bytes_of(std::int32_t{-77}, std::int32_t{0}));
}

}  // namespace
}  // namespace landtrace::plan
