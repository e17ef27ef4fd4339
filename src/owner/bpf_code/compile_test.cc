// Code gives the answers that the interpreter gives: the same r0, the same bytes in maps, the same figures; and it
// touches nothing else, whatever the verifier thinks of the program.
#include "bpf_code/compile.hpp"

#include <gtest/gtest.h>

#include "bpf/maps/hash.hpp"
#include "bpf_code/test_twins.hpp"
#include "verifier/test_programs.hpp"

namespace landtrace::bpf_code {
namespace {

using namespace bpf::code;
using bpf::Instruction;

std::string random_event(verifier::ProgramWriter& writer, std::size_t size) {
  std::string event(size, '\0');
  for (char& byte : event)
    byte = static_cast<char>(writer.below(3) == 0 ? writer.below(2) * 255 : static_cast<int>(writer()));
  return event;
}

TEST(BpfCode, ProgramsThatAreAcceptedGiveTheSameAnswers) {
  verifier::ProgramWriter writer(11);
  Twins twins;
  int accepted = 0;
  for (int i = 0; i < 30'000; ++i) {
    const Code code = writer.write();
    const verifier::Verdict verdict = verifier::verdict_of(code);
    if (!verdict.accepted) continue;
    ++accepted;
    ASSERT_TRUE(twins.take(code, verdict.frames));
    for (int k = 0; k < 4; ++k) {
      const std::string event = random_event(writer, verdict.context_end > 8 ? verdict.context_end - 8 : 0);
      ASSERT_EQ(twins.difference(event), "") << verifier::text_of(code);
      ASSERT_EQ(twins.figures().faults, 0u) << verifier::text_of(code);
    }
  }
  EXPECT_GT(accepted, 1'000);
}

// Wild pointers, loops without an end, events that are too short.
TEST(BpfCode, ProgramsThatAreRefusedGiveTheSameAnswersAndTouchNothingElse) {
  verifier::ProgramWriter writer(12);
  Twins twins;
  int faults = 0;
  for (int i = 0; i < 15'000; ++i) {
    const Code code = writer.write();
    if (!twins.take(code, 1)) continue;
    ASSERT_EQ(twins.difference(random_event(writer, static_cast<std::size_t>(writer.below(40)))), "")
        << verifier::text_of(code);
    faults += twins.figures().faults != 0 ? 1 : 0;
  }
  EXPECT_GT(faults, 1'000);
}

// Each operation with each pair of registers, of numbers where something happens.
class Calculation {
 public:
  explicit Calculation(std::uint64_t seed) : random_(seed) {}

  Code write() {
    Code code;
    for (int reg = 0; reg < 10; ++reg) code = code + constant(reg, number());
    for (int left = 1 + below(12); left > 0; --left) code.push_back(instruction());
    for (int reg = 1; reg < 10; ++reg) {
      code.push_back(alu(BPF_MUL, 0, 31));
      code.push_back(alu_r(BPF_ADD, 0, reg));
    }
    code.push_back(leave());
    return code;
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  std::uint64_t number() {
    constexpr std::uint64_t kEdges[] = {0, 1, 2, 31, 32, 63, 64, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000};
    if (below(2) == 0) return kEdges[below(11)] * (below(2) == 0 ? 1 : ~0ull);
    return random_();
  }
  Instruction instruction() {
    const int dst = below(10), src = below(11), constant_number = static_cast<int>(number());
    const int operation = verifier::kCalculations[below(11)];
    const bool shifts = operation == BPF_LSH || operation == BPF_RSH || operation == BPF_ARSH;
    switch (below(8)) {
      case 0:
        return make((below(2) == 0 ? BPF_ALU : BPF_ALU64) | BPF_NEG, dst, 0, 0, 0);
      case 1:
        return make(BPF_ALU | BPF_END | (below(2) == 0 ? BPF_TO_LE : BPF_TO_BE), dst, 0, 0, 16 << below(3));
      case 2:
        return make((below(2) == 0 ? BPF_ALU : BPF_ALU64) | BPF_MOV | BPF_X, dst, src, 0, 0);
      case 3:
        return alu(operation, dst, shifts ? constant_number & 63 : constant_number);
      case 4:
        return alu32(operation, dst, shifts ? constant_number & 31 : constant_number);
      case 5:
        return alu32_r(operation, dst, src);
      case 6:
        // Over the next one, which is then of no effect.
        return make(
            (below(2) == 0 ? BPF_JMP : BPF_JMP32) | verifier::kComparisons[below(11)] | (below(2) == 0 ? BPF_X : BPF_K),
            below(11), src, 1, constant_number);
      default:
        return alu_r(operation, dst, src);
    }
  }
  std::mt19937_64 random_;
};

TEST(BpfCode, CalculatesAndComparesAsTheInterpreterDoes) {
  Calculation calculation(13);
  Twins twins;
  for (int i = 0; i < 60'000; ++i) {
    const Code code = calculation.write();
    ASSERT_TRUE(twins.take(code, 1));
    ASSERT_EQ(twins.difference(""), "") << verifier::text_of(code);
  }
}

struct Ran {
  std::uint64_t result, faults, exceeded;
  bool operator==(const Ran&) const = default;
};
Ran run_of(const Code& code, std::uint32_t frames = 1) {
  Twins twins;
  EXPECT_TRUE(twins.take(code, frames));
  const std::uint64_t result = twins.run("12345678");
  return {result, twins.figures().faults, twins.figures().exceeded};
}

TEST(BpfCode, ALoopWithoutEndIsStoppedAndCounted) {
  EXPECT_EQ(run_of({set(0, 5), go(-1)}), (Ran{0, 0, 1}));
  EXPECT_EQ(run_of({set(0, 5), set(6, 0), alu(BPF_ADD, 6, 1), jump(BPF_JNE, 6, 400'000, -2), leave()}), (Ran{5, 0, 0}));
  EXPECT_EQ(run_of({set(0, 5), set(6, 0), alu(BPF_ADD, 6, 1), jump(BPF_JNE, 6, 500'000, -2), leave()}), (Ran{0, 0, 1}));
}

TEST(BpfCode, TheLastInstructionThatThereIsIsRun) {
  // Two, then two of each round, then one.
  const auto rounds = [](int count) {
    return Code{set(0, 5), set(6, 0), alu(BPF_ADD, 6, 1), jump(BPF_JNE, 6, count, -2), alu(BPF_ADD, 0, 1), leave()};
  };
  static_assert(bpf::kMaxRun == 1'000'000);
  EXPECT_EQ(run_of(rounds(499'998)), (Ran{6, 0, 0}));
  EXPECT_EQ(run_of(rounds(499'999)), (Ran{0, 0, 1}));
}

// Whether so many rounds of `body` were too much, both ways.
bool is_too_much(Twins& twins, int rounds, const Code& body) {
  const auto back = -static_cast<int>(body.size()) - 2;
  EXPECT_TRUE(twins.take(
      Code{set(6, 0)} + body + Code{alu(BPF_ADD, 6, 1), jump(BPF_JNE, 6, rounds, back), set(0, 0), leave()}, 1));
  EXPECT_EQ(twins.difference("12345678"), "");
  EXPECT_EQ(twins.figures().faults, 0u);
  return twins.figures().exceeded != 0;
}

TEST(BpfCode, BytesThatHelpersCopyAreTakenFromTheInstructions) {
  constexpr int kMiB = 1 << 20;  // 131,072 times eight bytes
  Twins twins({{bpf::kArray, 4, 2 * kMiB, 1, 0}, {bpf::kArray, 4, kMiB, 1, 0}, {bpf::kRingbuf, 0, 0, 16 * kMiB, 0}});
  const Code read = map_value(1, 0, 0) + Code{set(2, kMiB)} + map_value(3, 0, kMiB);
  for (const int helper : {BPF_FUNC_probe_read_kernel, BPF_FUNC_probe_read_kernel_str}) {
    EXPECT_FALSE(is_too_much(twins, 7, read + Code{call(helper)}));
    EXPECT_TRUE(is_too_much(twins, 8, read + Code{call(helper)}));
  }
  const Code update = Code{put(BPF_W, 10, -4, 0), copy(2, 10), alu(BPF_ADD, 2, -4)} + map(1, 1) + map_value(3, 0, 0) +
                      Code{set(4, 0), call(BPF_FUNC_map_update_elem)};
  EXPECT_FALSE(is_too_much(twins, 7, update));
  EXPECT_TRUE(is_too_much(twins, 8, update));
  const Code output = map(1, 2) + map_value(2, 0, 0) + Code{set(3, kMiB), set(4, 0), call(BPF_FUNC_ringbuf_output)};
  EXPECT_FALSE(is_too_much(twins, 7, output));
  EXPECT_TRUE(is_too_much(twins, 8, output));
}

TEST(BpfCode, AChainThatSomebodyHasTiedTogetherIsTakenFromTheInstructions) {
  Twins twins({{bpf::kHash, 4, 8, 1, 0}});
  const Code look_up =
      Code{put(BPF_W, 10, -4, 7), copy(2, 10), alu(BPF_ADD, 2, -4)} + map(1, 0) + Code{call(BPF_FUNC_map_lookup_elem)};
  const auto program = [&](int rounds) {
    return Code{set(6, 0)} + look_up +
           Code{alu(BPF_ADD, 6, 1), jump(BPF_JNE, 6, rounds, -static_cast<int>(look_up.size()) - 2), set(0, 0),
                leave()};
  };
  for (const int rounds : {2, 40}) {
    EXPECT_TRUE(twins.take(program(rounds), 1));
    // The one element, of another key, is the one behind itself.
    twins.spoil(twins.map(0).place + sizeof(bpf::HashHeader), 1);
    twins.spoil(twins.map(0).place + twins.map(0).elements_at, 1);
    EXPECT_EQ(twins.difference("12345678"), "");
    EXPECT_EQ(twins.figures().exceeded, rounds == 2 ? 0u : 1u);
  }
}

TEST(BpfCode, SubprogramsHaveStacksOfTheirOwnAndEndWithAFaultWhereThereAreNoMore) {
  const Code code = {set(6, 4), put(BPF_DW, 10, -8, 11), set(1, 30), call_here(4), load(BPF_DW, 2, 10, -8),
                     alu_r(BPF_ADD, 0, 2), alu_r(BPF_ADD, 0, 6), leave(),
                     // adds 1; spoils what is its own to spoil
                     put(BPF_DW, 10, -8, 99), set(6, 77), copy(0, 1), alu(BPF_ADD, 0, 1), leave()};
  EXPECT_EQ(run_of(code, 2), (Ran{46, 0, 0}));
  EXPECT_EQ(run_of(code, 1), (Ran{0, 1, 0}));
  EXPECT_EQ(run_of({call_here(-1), leave()}, bpf::kMaxFrames), (Ran{0, 1, 0})) << "calls without end";
}

TEST(BpfCode, WhereTheFrameIsDoesNotDependOnWhetherThereAreCalls) {
  const Code code = Code{put(BPF_DW, 10, -8, 3), put(BPF_DW, 10, -16, 5)} + map(1, verifier::kValues) +
                    Code{copy(2, 10), alu(BPF_ADD, 2, -8),
                         copy(3, 10), alu(BPF_ADD, 3, -16),
                         set(4, 0),   call(BPF_FUNC_map_update_elem),
                         leave()};
  for (const std::uint32_t frames : {1u, 2u, bpf::kMaxFrames}) {
    Twins twins;
    ASSERT_TRUE(twins.take(code, frames));
    EXPECT_EQ(twins.difference(""), "") << frames;
    EXPECT_EQ(twins.run(""), 0u) << "the element that stands on the stack is one of the map's";
  }
}

TEST(BpfCode, WhatEndsInASubprogramEndsTheProgram) {
  EXPECT_EQ(run_of({call_here(2), set(0, 5), leave(), set(2, 4096), load(BPF_B, 0, 2, 0), leave()}, 2), (Ran{0, 1, 0}));
  EXPECT_EQ(run_of({call_here(2), set(0, 5), leave(), go(-1)}, 2), (Ran{0, 0, 1}));
}

TEST(BpfCode, HelpersAreCalledWithAnAlignedStackAndLeaveNothingBehind) {
  EXPECT_EQ(run_of({call(BPF_FUNC_ktime_get_ns), leave()}), (Ran{1234567, 0, 0}));
  EXPECT_EQ(run_of({call_here(1), leave(), call(BPF_FUNC_ktime_get_ns), copy(0, 1), alu_r(BPF_OR, 0, 2),
                    alu_r(BPF_OR, 0, 3), alu_r(BPF_OR, 0, 4), alu_r(BPF_OR, 0, 5), leave()},
                   2),
            (Ran{0, 0, 0}));
}

TEST(BpfCode, AtomicsGiveBackWhatWasThere) {
  Twins twins;
  for (const int size : {BPF_W, BPF_DW}) {
    for (const int how : {BPF_ADD, BPF_OR, BPF_AND, BPF_XOR, BPF_ADD | BPF_FETCH, BPF_OR | BPF_FETCH,
                          BPF_AND | BPF_FETCH, BPF_XOR | BPF_FETCH, BPF_XCHG, BPF_CMPXCHG}) {
      for (int source = 0; source < 10; ++source) {
        for (const int offset : {-16, -12, -8, -6}) {
          Code code = {put(BPF_DW, 10, -16, 0x12345678), put(BPF_DW, 10, -8, -5)};
          code = code + constant(0, 0xfffffffb00000000 + (offset == -8 ? 0xfffffffb : 0x12345678)) +
                 (source == 0 ? Code() : constant(source, 0xf0f0'1111'2222'0ff0)) +
                 Code{atomic(size, how, 10, offset, source),
                      load(BPF_DW, source == 1 ? 2 : 1, 10, offset < -8 ? -16 : -8),
                      alu(BPF_MUL, 0, 31),
                      alu_r(BPF_ADD, 0, source == 1 ? 2 : 1),
                      alu(BPF_MUL, 0, 31),
                      alu_r(BPF_ADD, 0, source),
                      leave()};
          ASSERT_TRUE(twins.take(code, 1));
          ASSERT_EQ(twins.difference(""), "") << verifier::text_of(code);
        }
      }
    }
  }
}

TEST(BpfCode, WhatIsOutsideOfEachWindowIsAFaultAndNotAnAccess) {
  const auto fault = [](const Code& code) { return run_of(code).faults; };
  EXPECT_EQ(fault({load(BPF_W, 0, 1, 4), leave()}), 1u) << "the header";
  EXPECT_EQ(fault({load(BPF_W, 0, 1, 13), leave()}), 1u) << "behind the payload";
  EXPECT_EQ(fault({load(BPF_W, 0, 1, 12), leave()}), 0u);
  EXPECT_EQ(fault({put(BPF_B, 1, 8, 0), leave()}), 1u) << "a context is read only";
  EXPECT_EQ(fault({put(BPF_DW, 10, -520, 0), leave()}), 1u);
  EXPECT_EQ(fault({put(BPF_DW, 10, -512, 0), leave()}), 0u);
  EXPECT_EQ(fault({put(BPF_DW, 10, -4, 0), leave()}), 1u) << "beyond the frame";
  EXPECT_EQ(fault({copy(2, 10), alu(BPF_ADD, 2, -4), put(BPF_DW, 2, 0, 0), leave()}), 1u);
  EXPECT_EQ(fault({copy(2, 10), alu_r(BPF_SUB, 2, 10), put(BPF_DW, 2, 0, 0), leave()}), 1u) << "a guess that is wrong";
  EXPECT_EQ(fault(map_value(2, verifier::kValues, 56) + Code{load(BPF_DW, 0, 2, 0), leave()}), 0u);
  EXPECT_EQ(fault(map_value(2, verifier::kValues, 57) + Code{load(BPF_DW, 0, 2, 0), leave()}), 1u);
  EXPECT_EQ(fault(map_value(2, verifier::kValues, 0) + Code{load(BPF_DW, 0, 2, -1), leave()}), 1u);
  EXPECT_EQ(fault(map_value(2, verifier::kReadOnly, 0) + Code{put(BPF_B, 2, 0, 1), leave()}), 1u);
  EXPECT_EQ(fault({set(0, 1)}), 1u) << "no exit";
}

TEST(BpfCode, HelpersFindTheBytesThatTheEventSaysWhere) {
  // r3 = the event and the lower half of its first field; 8 bytes from there on to the stack. 31 * r0 + them.
  const auto read = [](int helper, int more = 0) {
    return Code{put(BPF_DW, 10, -8, -1),
                load(BPF_W, 3, 1, 8),
                alu(BPF_AND, 3, 0xffff),
                alu_r(BPF_ADD, 3, 1),
                alu(BPF_ADD, 3, more),
                copy(1, 10),
                alu(BPF_ADD, 1, -8),
                set(2, 8),
                call(helper),
                load(BPF_DW, 1, 10, -8),
                alu(BPF_MUL, 0, 31),
                alu_r(BPF_ADD, 0, 1),
                leave()};
  };
  const auto event_of = [](std::uint16_t offset) {
    std::string event = {static_cast<char>(offset), static_cast<char>(offset >> 8), 9, 0};
    return event + std::string("abcdefgh\0tail", 13);
  };
  const auto number_of = [](std::string_view bytes) {
    std::uint64_t number = 0;
    std::memcpy(&number, bytes.data(), bytes.size());
    return number;
  };
  constexpr std::uint64_t kFaults = 31 * static_cast<std::uint64_t>(-EFAULT);
  Twins twins;
  const auto result_of = [&](const Code& code, std::uint16_t offset) {
    const verifier::Verdict verdict = verifier::verdict_of(code);
    EXPECT_TRUE(verdict.accepted) << verdict.reason;
    EXPECT_TRUE(twins.take(code, verdict.frames));
    EXPECT_EQ(twins.difference(event_of(offset)), "") << offset;
    EXPECT_EQ(twins.figures().faults, 0u) << offset;
    return twins.run(event_of(offset));
  };
  EXPECT_EQ(result_of(read(BPF_FUNC_probe_read_kernel), 12), number_of("abcdefgh"));
  EXPECT_EQ(result_of(read(BPF_FUNC_probe_read_kernel, 1), 12), number_of(std::string_view("bcdefgh\0", 8)));
  EXPECT_EQ(result_of(read(BPF_FUNC_probe_read_kernel_str), 12), 31 * 8 + number_of("abcdefg"));
  EXPECT_EQ(result_of(read(BPF_FUNC_probe_read_kernel_str), 17) & 0xffffffff, 31 * 4 + number_of("fgh"));
  // Where the event ends, a text does.
  EXPECT_EQ(result_of(read(BPF_FUNC_probe_read_kernel_str), 23) & 0xffff, 31 * 3 + number_of("il"));
  // Before the fields, behind them, and half behind.
  for (const std::uint16_t offset : std::initializer_list<std::uint16_t>{0, 7, 18, 24, 25, 4096, 65535}) {
    EXPECT_EQ(result_of(read(BPF_FUNC_probe_read_kernel), offset), kFaults) << offset;
  }
  for (const std::uint16_t offset : std::initializer_list<std::uint16_t>{0, 7, 25, 4096, 65535}) {
    EXPECT_EQ(result_of(read(BPF_FUNC_probe_read_kernel_str), offset), kFaults) << offset;
  }
}

TEST(BpfCode, APointerOfAMapThatIsLedAwayFindsWhatIsThere) {
  const Code distance = map_value(2, verifier::kValues, 0) + map_value(4, verifier::kValues, 0) +
                        Code{copy(3, 10), alu_r(BPF_SUB, 3, 4), alu_r(BPF_ADD, 2, 3)};
  EXPECT_EQ(run_of(Code{put(BPF_DW, 10, -8, 0x4d2)} + distance + Code{load(BPF_DW, 0, 2, -8), leave()}),
            (Ran{0x4d2, 0, 0}));
  EXPECT_EQ(run_of(distance + Code{put(BPF_B, 2, -8, 7), put(BPF_B, 2, -7, 0), load(BPF_H, 0, 10, -8), leave()}),
            (Ran{7, 0, 0}));
}

TEST(BpfCode, WhatCannotBeCompiledIsLeftToTheInterpreter) {
  const auto code = [](const Code& program) { return code_of(bpf::TestProgram({}, program)); };
  EXPECT_FALSE(code({set(0, 1), leave()}).empty());
  EXPECT_TRUE(code({set(3, 0), call(BPF_FUNC_get_stackid), leave()}).empty()) << "a stack";
  EXPECT_TRUE(code({set(10, 1), leave()}).empty()) << "the frame pointer";
  EXPECT_TRUE(code({go(5), leave()}).empty());
  EXPECT_TRUE(code({go(1), leave()}).empty());
  EXPECT_TRUE(code(Code{go(1)} + constant(0, 1) + Code{leave()}).empty()) << "into the middle of a constant";
  EXPECT_TRUE(code({call(9999), leave()}).empty());
  EXPECT_TRUE(code({make(BPF_LDX | BPF_MEM | BPF_W, 12, 1, 0, 0), leave()}).empty());
}

}  // namespace
}  // namespace landtrace::bpf_code
