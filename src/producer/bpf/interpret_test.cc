#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "bpf/test_arithmetic.hpp"
#include "bpf/test_run.hpp"
#include "bpf/maps/array.hpp"
#include "bpf/maps/hash.hpp"
#include "bpf/maps/stacks.hpp"

namespace landtrace::bpf {
namespace {

using namespace code;
using bpf_objects::MapWish;

std::uint64_t result_of(const Code& body) {
  const TestMaps maps;
  TestPlace place;
  const std::uint64_t result =
      TestProgram(maps.layouts, body, kMaxFrames).run(maps, place, "\x01\x02\x03\x04\x05\x06\x07\x08");
  EXPECT_EQ(maps.figures().faults + maps.figures().exceeded, 0u);
  return result;
}

struct Fault {
  std::uint64_t faults, exceeded;
};
Fault fault_of(const Code& body) {
  const TestMaps maps;
  TestPlace place;
  TestProgram(maps.layouts, body).run(maps, place, "12345678");
  return {maps.figures().faults, maps.figures().exceeded};
}

TEST(BpfInterpreter, CalculatesWith64And32Bits) {
  EXPECT_EQ(result_of({set(0, -5), alu(BPF_ADD, 0, 3), leave()}), ~1ull);
  EXPECT_EQ(result_of({set(0, -5), alu32(BPF_ADD, 0, 3), leave()}), 0xfffffffeull);
  EXPECT_EQ(result_of({set(0, -8), alu(BPF_ARSH, 0, 1), leave()}), ~3ull);
  EXPECT_EQ(result_of({set(0, -8), alu32(BPF_ARSH, 0, 1), leave()}), 0xfffffffcull);
  EXPECT_EQ(result_of({set(0, -8), alu32(BPF_RSH, 0, 1), leave()}), 0x7ffffffcull);
  EXPECT_EQ(result_of({set(0, 7), set(1, 65), alu_r(BPF_LSH, 0, 1), leave()}), 14u);
  EXPECT_EQ(result_of({set(0, -1), alu32(BPF_MOV, 0, -1), leave()}), 0xffffffffull);
  EXPECT_EQ(result_of({set(0, 6), alu(BPF_MUL, 0, -7), leave()}), static_cast<std::uint64_t>(-42));
  EXPECT_EQ(result_of({set(0, 5), make(BPF_ALU64 | BPF_NEG, 0, 0, 0, 0), leave()}), static_cast<std::uint64_t>(-5));
  EXPECT_EQ(result_of({set(0, 0x1234), make(BPF_ALU | BPF_END | BPF_TO_BE, 0, 0, 0, 16), leave()}), 0x3412u);
}

// Numbers where something happens: the edges of 32 and 64 bits, and any.
std::uint64_t some_number(std::mt19937_64& random) {
  constexpr std::uint64_t kEdges[] = {0,          1,          31,         32,          63,        64,
                                      0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 1ull << 63};
  const std::uint64_t any = random();
  return any % 2 == 0 ? kEdges[random() % std::size(kEdges)] - random() % 2 : any >> random() % 64;
}

TEST(BpfInterpreter, CalculatesAndJumpsAsTheDefinitionSays) {
  constexpr int kOperations[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_OR,   BPF_AND,
                                 BPF_LSH, BPF_RSH, BPF_MOD, BPF_XOR, BPF_ARSH, BPF_NEG};
  constexpr int kJumps[] = {BPF_JEQ,  BPF_JNE,  BPF_JGT,  BPF_JGE,  BPF_JLT, BPF_JLE,
                            BPF_JSET, BPF_JSGT, BPF_JSGE, BPF_JSLT, BPF_JSLE};
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t a = some_number(random), b = some_number(random);
    const bool is_64 = random() % 2 == 0;
    const int operation = kOperations[random() % std::size(kOperations)];
    const int source = operation == BPF_NEG ? BPF_K : BPF_X;
    const Code numbers = constant(0, a) + constant(1, b);
    ASSERT_EQ(result_of(numbers + Code{make((is_64 ? BPF_ALU64 : BPF_ALU) | operation | source, 0, 1, 0, 0), leave()}),
              Arithmetic(is_64).result(operation, a, b))
        << operation << (is_64 ? " 64: " : " 32: ") << a << " " << b;
    const int jump_kind = kJumps[random() % std::size(kJumps)];
    ASSERT_EQ(result_of(numbers + Code{make((is_64 ? BPF_JMP : BPF_JMP32) | jump_kind | BPF_X, 0, 1, 2, 0), set(0, 0),
                                       leave(), set(0, 1), leave()}),
              Arithmetic(is_64).jumps(jump_kind, a, b) ? 1u : 0u)
        << jump_kind << (is_64 ? " 64: " : " 32: ") << a << " " << b;
  }
}

TEST(BpfInterpreter, DivisionByZeroIsZeroAndItsRestTheNumber) {
  EXPECT_EQ(result_of({set(0, 9), set(1, 0), alu_r(BPF_DIV, 0, 1), leave()}), 0u);
  EXPECT_EQ(result_of({set(0, 9), set(1, 0), alu_r(BPF_MOD, 0, 1), leave()}), 9u);
  EXPECT_EQ(result_of({set(0, 9), set(1, 4), alu_r(BPF_MOD, 0, 1), leave()}), 1u);
}

TEST(BpfInterpreter, ComparesWithAndWithoutASign) {
  EXPECT_EQ(result_of({set(0, 0), set(1, -1), jump(BPF_JGT, 1, 5, 1), leave(), set(0, 1), leave()}), 1u);
  EXPECT_EQ(result_of({set(0, 0), set(1, -1), jump(BPF_JSGT, 1, 5, 1), leave(), set(0, 1), leave()}), 0u);
  EXPECT_EQ(
      result_of({set(0, 0), set(1, 1), alu(BPF_LSH, 1, 32), jump32(BPF_JEQ, 1, 0, 1), leave(), set(0, 1), leave()}),
      1u);
  EXPECT_EQ(result_of({set(0, 0), set(1, 6), jump(BPF_JSET, 1, 4, 1), leave(), set(0, 1), leave()}), 1u);
}

TEST(BpfInterpreter, ReadsTheEventBehindItsHeader) {
  EXPECT_EQ(result_of({load(BPF_W, 0, 1, 8), leave()}), 0x04030201u);
  EXPECT_EQ(result_of({load(BPF_B, 0, 1, 15), leave()}), 8u);
}

TEST(BpfInterpreter, SubprogramsHaveStacksOfTheirOwn) {
  EXPECT_EQ(result_of({set(6, 4), put(BPF_DW, 10, -8, 11), set(1, 30), call_here(4), load(BPF_DW, 2, 10, -8),
                       alu_r(BPF_ADD, 0, 2), alu_r(BPF_ADD, 0, 6), leave(),
                       // adds 1; spoils what is its own to spoil
                       put(BPF_DW, 10, -8, 99), set(6, 77), copy(0, 1), alu(BPF_ADD, 0, 1), leave()}),
            46u);
}

TEST(BpfInterpreter, AtomicsGiveBackWhatWasThere) {
  const Code begin = {put(BPF_DW, 10, -8, 40), set(1, 2), set(0, 40)};
  EXPECT_EQ(result_of(begin + Code{atomic(BPF_DW, BPF_ADD | BPF_FETCH, 10, -8, 1), load(BPF_DW, 0, 10, -8),
                                   alu_r(BPF_MUL, 0, 1), leave()}),
            42u * 40);
  EXPECT_EQ(result_of(begin + Code{atomic(BPF_DW, BPF_XCHG, 10, -8, 1), copy(0, 1), leave()}), 40u);
  EXPECT_EQ(result_of(begin + Code{atomic(BPF_DW, BPF_CMPXCHG, 10, -8, 1), load(BPF_DW, 0, 10, -8), leave()}), 2u);
  EXPECT_EQ(result_of(begin + Code{set(0, 41), atomic(BPF_DW, BPF_CMPXCHG, 10, -8, 1), leave()}), 40u);
  EXPECT_EQ(result_of(begin + Code{atomic(BPF_W, BPF_XOR, 10, -8, 1), load(BPF_DW, 0, 10, -8), leave()}), 42u);
}

// Whatever the verifier has let through.
TEST(BpfInterpreter, WhatIsOutsideOfEachWindowIsAFaultAndNotAnAccess) {
  EXPECT_EQ(fault_of({load(BPF_W, 0, 1, 4), leave()}).faults, 1u) << "the header";
  EXPECT_EQ(fault_of({load(BPF_W, 0, 1, 13), leave()}).faults, 1u) << "behind the payload";
  EXPECT_EQ(fault_of({put(BPF_B, 1, 8, 0), leave()}).faults, 1u) << "a context is read only";
  EXPECT_EQ(fault_of({put(BPF_DW, 10, -520, 0), leave()}).faults, 1u);
  EXPECT_EQ(fault_of({put(BPF_DW, 10, -4, 0), leave()}).faults, 1u) << "beyond the frame";
  EXPECT_EQ(fault_of({set(2, 4096), load(BPF_B, 0, 2, 0), leave()}).faults, 1u) << "an address of the process";
  EXPECT_EQ(fault_of({atomic(BPF_DW, BPF_ADD, 10, -12, 1), leave()}).faults, 1u) << "misaligned";
  EXPECT_EQ(fault_of({go(-1)}).exceeded, 1u);
  EXPECT_EQ(fault_of({go(100)}).faults, 1u);
  EXPECT_EQ(fault_of({set(0, 1)}).faults, 1u) << "no exit";
  EXPECT_EQ(fault_of({call(9999), leave()}).faults, 1u);
  EXPECT_EQ(fault_of({call_here(-1), leave()}).faults, 1u) << "calls without end";
  EXPECT_EQ(fault_of(map(1, 0) + Code{copy(2, 10), call(BPF_FUNC_map_lookup_elem), leave()}).faults, 1u)
      << "there is no map";
}

TEST(BpfInterpreter, CountsInAHashAndAnArray) {
  const TestMaps maps({MapWish{kHash, 4, 8, 16, 0}, MapWish{kArray, 4, 8, 4, 0}});
  TestPlace place;
  const Code update = map(1, 0) + Code{copy(2, 10),          alu(BPF_ADD, 2, -4), copy(3, 10),
                                       alu(BPF_ADD, 3, -16), set(4, BPF_ANY),     call(BPF_FUNC_map_update_elem)};
  const Code count = Code{put(BPF_W, 10, -4, 3)} + map(1, 0) +
                     Code{copy(2, 10), alu(BPF_ADD, 2, -4), call(BPF_FUNC_map_lookup_elem), jump(BPF_JNE, 0, 0, 10),
                          put(BPF_DW, 10, -16, 1)} +
                     update + Code{go(2), set(1, 1), atomic(BPF_DW, BPF_ADD, 0, 0, 1)} + map_value(1, 1, 0) +
                     Code{load(BPF_DW, 2, 1, 0), alu(BPF_ADD, 2, 1), store(BPF_DW, 1, 0, 2), set(0, 0), leave()};
  const TestProgram program(maps.layouts, count);
  for (int i = 0; i < 5; ++i) program.run(maps, place);
  const std::uint32_t key = 3;
  const std::byte* const counted = Hash(maps.data, maps.layouts[0]).find(&key, 0);
  ASSERT_NE(counted, nullptr);
  EXPECT_EQ(*reinterpret_cast<const std::uint64_t*>(counted), 5u);
  EXPECT_EQ(*reinterpret_cast<const std::uint64_t*>(Array(maps.data, maps.layouts[1]).find(0, 0)), 5u);
  EXPECT_EQ(maps.figures().faults, 0u);
}

TEST(BpfInterpreter, ProgramsHaveARowToThemselvesAndGiveItBack) {
  const TestMaps maps({MapWish{kPercpuArray, 4, 8, 2, 0}});
  TestPlace place;
  const Code count = Code{put(BPF_W, 10, -4, 1)} + map(1, 0) +
                     Code{copy(2, 10),
                          alu(BPF_ADD, 2, -4),
                          call(BPF_FUNC_map_lookup_elem),
                          jump(BPF_JEQ, 0, 0, 3),
                          load(BPF_DW, 1, 0, 0),
                          alu(BPF_ADD, 1, 1),
                          store(BPF_DW, 0, 0, 1),
                          set(0, 0),
                          leave()};
  const TestProgram program(maps.layouts, count);
  const auto counted = [&](std::uint32_t row) {
    return *reinterpret_cast<const std::uint64_t*>(Array(maps.data, maps.layouts[0]).find(1, row));
  };
  program.run(maps, place);
  program.run(maps, place);
  place.cpu_now = 1;
  program.run(maps, place);
  EXPECT_EQ(counted(0), 2u);
  EXPECT_EQ(counted(1), 1u);
  // Somebody was interrupted on CPU 1.
  bool mine = false;
  const Rows rows(maps.data + program.program().rows, kTestCpus);
  EXPECT_EQ(rows.claim(1, 4711, mine), 1u);
  program.run(maps, place);
  EXPECT_EQ(counted(0), 3u);
  EXPECT_EQ(counted(1), 1u);
  EXPECT_EQ(rows.holder(0), 0u);
}

// The table has functions behind its helpers that code calls, and programs cannot.
TEST(BpfInterpreter, NumbersOfNoHelperAreFaults) {
  for (const int number : {-1, 0, static_cast<int>(kHelperLimit) - 1, static_cast<int>(kFindReadable),
                           static_cast<int>(kFindWritable), static_cast<int>(kFindWritable) + 1, 1 << 30}) {
    EXPECT_EQ(fault_of({copy(1, 10), alu(BPF_ADD, 1, -8), set(2, 8), call(number), leave()}).faults, 1u) << number;
  }
}

TEST(BpfInterpreter, ReadsTheProgramsMemoryAndSaysWhereThereIsNone) {
  const auto read = [](int helper, std::int32_t from, int size) {
    return Code{copy(1, 10), alu(BPF_ADD, 1, -8), set(2, size), set(3, from), call(helper), leave()};
  };
  EXPECT_EQ(result_of(read(BPF_FUNC_probe_read_user, 0x10000, 4)), 0u);
  EXPECT_EQ(result_of(read(BPF_FUNC_probe_read_user, 0x20000, 4)), static_cast<std::uint64_t>(-EFAULT));
  EXPECT_EQ(result_of(read(BPF_FUNC_probe_read_kernel, -1, 4)), static_cast<std::uint64_t>(-EFAULT));
  EXPECT_EQ(result_of(read(BPF_FUNC_probe_read_user_str, 0x10000, 8)), 6u);
  EXPECT_EQ(result_of(read(BPF_FUNC_probe_read_user_str, 0x10000, 3)), 3u) << "cut, with its NUL";
  EXPECT_EQ(result_of(read(BPF_FUNC_probe_read_user_str, 0x10005, 8)), 1u) << "an empty text is one";
  EXPECT_EQ(result_of({put(BPF_DW, 10, -8, -1), copy(1, 10), alu(BPF_ADD, 1, -8), set(2, 8), set(3, 0x20000),
                       call(BPF_FUNC_probe_read_user), load(BPF_DW, 0, 10, -8), leave()}),
            0u)
      << "what could not be read is zero";
}

TEST(BpfInterpreter, RecordsThatAreHeldAtTheEndAreDiscarded) {
  const TestMaps maps({MapWish{kRingbuf, 0, 0, 4096, 0}});
  TestPlace place;
  const Code reserve = map(1, 0) + Code{set(2, 8), set(3, 0), call(BPF_FUNC_ringbuf_reserve), put(BPF_DW, 0, 0, 5)};
  TestProgram(maps.layouts, reserve + Code{set(0, 0), leave()}).run(maps, place);
  TestProgram(maps.layouts, reserve + Code{copy(1, 0), set(2, 0), call(BPF_FUNC_ringbuf_submit), set(0, 0), leave()})
      .run(maps, place);
  std::vector<std::uint64_t> seen;
  RecordRing(maps.data, maps.layouts[0]).consume([&](const std::byte* data, std::uint32_t size) {
    EXPECT_EQ(size, 8u);
    seen.push_back(*reinterpret_cast<const std::uint64_t*>(data));
  });
  EXPECT_THAT(seen, testing::ElementsAre(5u));
  // A record that was given back is out of reach.
  TestProgram(maps.layouts, reserve + Code{copy(6, 0), copy(1, 0), set(2, 0), call(BPF_FUNC_ringbuf_submit),
                                           put(BPF_DW, 6, 0, 6), set(0, 0), leave()})
      .run(maps, place);
  EXPECT_EQ(maps.figures().faults, 1u);
}

TEST(BpfInterpreter, StacksHaveTheSameNumberWhereTheyAreTheSame) {
  const TestMaps maps({MapWish{kStackTrace, 4, 80, 16, 0}});
  TestPlace place;
  const TestProgram program(maps.layouts,
                            map(2, 0) + Code{set(3, BPF_F_USER_STACK), call(BPF_FUNC_get_stackid), leave()});
  const std::uint64_t id = program.run(maps, place);
  EXPECT_LT(id, 16u);
  EXPECT_EQ(program.run(maps, place), id);
  std::uint64_t frames[10];
  EXPECT_EQ(Stacks(maps.data, maps.layouts[0]).find(static_cast<std::uint32_t>(id), frames), 0);
  EXPECT_EQ(frames[0], 0x1000u);
  EXPECT_EQ(frames[2], 0x1002u);
  EXPECT_EQ(frames[3], 0u);
}

}  // namespace
}  // namespace landtrace::bpf
