#include "verifier/verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verifier/test_verify.hpp"

namespace landtrace::verifier {
namespace {

using namespace bpf::code;
using testing::HasSubstr;

std::string refusal_of(const Code& code) {
  const Verdict verdict = verdict_of(code);
  return verdict.accepted ? "accepted" : verdict.reason;
}
void expect_accepted(const Code& code, const char* what = "") {
  const Verdict verdict = verdict_of(code, 1);
  EXPECT_TRUE(verdict.accepted) << what << "\n" << verdict.log;
}

const Code kEnd = {set(0, 0), leave()};
// r0 = the value of key 0 in that map, or null.
Code lookup(int number) {
  return Code{put(BPF_W, 10, -4, 0)} + map(1, number) +
         Code{copy(2, 10), alu(BPF_ADD, 2, -4), call(BPF_FUNC_map_lookup_elem)};
}
Code found(int number) { return lookup(number) + Code{jump(BPF_JNE, 0, 0, 2)} + kEnd; }
Code reserved(int size = 16) {
  return map(1, kRing) + Code{set(2, size), set(3, 0), call(BPF_FUNC_ringbuf_reserve), jump(BPF_JNE, 0, 0, 2)} + kEnd;
}
const Code kSubmit = {copy(1, 0), set(2, 0), call(BPF_FUNC_ringbuf_submit)};

TEST(Verifier, TakesProgramsThatAreSound) {
  expect_accepted(kEnd);
  expect_accepted({load(BPF_DW, 0, 1, 8), leave()});
  expect_accepted(found(kCounts) + Code{set(1, 1), atomic(BPF_DW, BPF_ADD, 0, 0, 1)} + kEnd);
  expect_accepted(reserved() + Code{put(BPF_DW, 0, 8, 1)} + kSubmit + kEnd);
  expect_accepted(map_value(1, kValues, 8) + Code{put(BPF_DW, 1, 0, 7)} + kEnd);
  expect_accepted(map_value(1, kReadOnly, 0) + Code{load(BPF_DW, 0, 1, 8), leave()});
}

TEST(Verifier, RefusesWhatConsistsOfNoInstructions) {
  EXPECT_THAT(refusal_of({}), HasSubstr("1 to"));
  EXPECT_THAT(refusal_of(Code{make(0xff, 0, 0, 0, 0)} + kEnd), HasSubstr("0: unknown opcode ff"));
  EXPECT_THAT(refusal_of(Code{make(BPF_ALU64 | BPF_MOV | BPF_K, 0, 3, 0, 0)} + kEnd), HasSubstr("reserved"));
  EXPECT_THAT(refusal_of(Code{copy(12, 0)} + kEnd), HasSubstr("R12 is invalid"));
  EXPECT_THAT(refusal_of(Code{set(10, 0)} + kEnd), HasSubstr("frame pointer is read only"));
  EXPECT_THAT(refusal_of({set(0, 0)}), HasSubstr("last insn is not an exit or jmp"));
  EXPECT_THAT(refusal_of(Code{go(5)} + kEnd), HasSubstr("jump out of range from insn 0 to 6"));
  EXPECT_THAT(refusal_of(Code{go(-2)} + kEnd), HasSubstr("jump out of range"));
  EXPECT_THAT(refusal_of(Code{go(1)} + constant(0, 1) + Code{leave()}), HasSubstr("into the middle of ldimm64 insn 2"));
  EXPECT_THAT(refusal_of(Code{go(1), set(1, 1)} + kEnd), HasSubstr("unreachable insn 1"));
  EXPECT_THAT(refusal_of(Code{call_here(20)} + kEnd), HasSubstr("call to invalid destination"));
  EXPECT_THAT(refusal_of(map(1, 77) + kEnd), HasSubstr("unknown opcode 18"));
  EXPECT_THAT(refusal_of(Code{call(9999)} + kEnd), HasSubstr("unknown func"));
}

TEST(Verifier, RefusesWhatWasNotWritten) {
  EXPECT_THAT(refusal_of({leave()}), HasSubstr("R0 !read_ok"));
  EXPECT_THAT(refusal_of({copy(0, 5), leave()}), HasSubstr("R5 !read_ok"));
  EXPECT_THAT(refusal_of(Code{set(2, 1), call(BPF_FUNC_ktime_get_ns), copy(0, 2), leave()}), HasSubstr("R2 !read_ok"));
  EXPECT_THAT(refusal_of({load(BPF_DW, 0, 10, -8), leave()}), HasSubstr("invalid read from stack off -8"));
  EXPECT_THAT(refusal_of({put(BPF_W, 10, -8, 0), load(BPF_DW, 0, 10, -8), leave()}), HasSubstr("-8+4 size 8"));
  EXPECT_THAT(
      refusal_of(map(1, kCounts) + Code{copy(2, 10), alu(BPF_ADD, 2, -4), call(BPF_FUNC_map_lookup_elem)} + kEnd),
      HasSubstr("invalid read from stack"));
  expect_accepted({put(BPF_W, 10, -8, 0), put(BPF_W, 10, -4, 0), load(BPF_DW, 0, 10, -8), leave()});
}

TEST(Verifier, RefusesWhatLiesOutsideOfTheEvent) {
  EXPECT_THAT(refusal_of({load(BPF_DW, 0, 1, 0), leave()}), HasSubstr("invalid bpf_context access off=0 size=8"));
  EXPECT_THAT(refusal_of({load(BPF_B, 0, 1, 7), leave()}), HasSubstr("invalid bpf_context access"));
  EXPECT_THAT(refusal_of({load(BPF_W, 0, 1, 8192), leave()}), HasSubstr("invalid bpf_context access"));
  EXPECT_THAT(refusal_of({load(BPF_W, 0, 1, 10), leave()}), HasSubstr("invalid bpf_context access off=10 size=4"));
  EXPECT_THAT(refusal_of(Code{put(BPF_W, 1, 8, 1)} + kEnd), HasSubstr("cannot write into ctx"));
  EXPECT_THAT(refusal_of({load(BPF_B, 2, 1, 8), alu_r(BPF_ADD, 1, 2), load(BPF_B, 0, 1, 8), leave()}),
              HasSubstr("variable ctx access"));
  EXPECT_EQ(verdict_of({load(BPF_W, 0, 1, 32), leave()}).context_end, 36u);
}

// r3 = the event and what byte 8 says, as the bytes of a __data_loc field are found.
const Code kSomewhere = {copy(6, 1), load(BPF_W, 3, 1, 8), alu(BPF_AND, 3, 0xffff), alu_r(BPF_ADD, 3, 1)};

TEST(Verifier, AnEventAndANumberIsForHelpersThatReadAnyAddress) {
  const Code to_stack = {copy(1, 10), alu(BPF_ADD, 1, -8), set(2, 8)};
  for (const int helper : {BPF_FUNC_probe_read, BPF_FUNC_probe_read_kernel, BPF_FUNC_probe_read_kernel_str}) {
    expect_accepted(kSomewhere + to_stack + Code{call(helper)} + kEnd);
    expect_accepted(kSomewhere + Code{alu(BPF_ADD, 3, 12)} + to_stack + Code{call(helper)} + kEnd, "and a constant");
    expect_accepted(
        kSomewhere + Code{store(BPF_DW, 10, -16, 3), load(BPF_DW, 3, 10, -16)} + to_stack + Code{call(helper)} + kEnd,
        "spilled");
  }
  EXPECT_THAT(refusal_of(kSomewhere + Code{load(BPF_B, 0, 3, 8), leave()}), HasSubstr("variable ctx access"));
  EXPECT_THAT(refusal_of(kSomewhere + Code{put(BPF_B, 3, 8, 0)} + kEnd), HasSubstr("cannot write into ctx"));
  EXPECT_THAT(refusal_of(kSomewhere + Code{set(2, 1), atomic(BPF_DW, BPF_ADD, 3, 8, 2)} + kEnd),
              HasSubstr("ctx is not allowed"));
  EXPECT_THAT(refusal_of(kSomewhere + Code{copy(0, 3), leave()}), HasSubstr("R0 leaks addr as return value"));
  EXPECT_THAT(refusal_of(kSomewhere + Code{copy(7, 3)} + found(kValues) + Code{store(BPF_DW, 0, 0, 7)} + kEnd),
              HasSubstr("R7 leaks addr into map_value"));
  // Neither where helpers want the event itself, nor where they want memory.
  EXPECT_THAT(
      refusal_of(kSomewhere + Code{copy(1, 3)} + map(2, kStacks) + Code{set(3, 0), call(BPF_FUNC_get_stackid)} + kEnd),
      HasSubstr("expected=ctx"));
  EXPECT_THAT(refusal_of(kSomewhere + Code{copy(1, 3), set(2, 8), call(BPF_FUNC_trace_printk)} + kEnd),
              HasSubstr("type=ctx expected=fp"));
  EXPECT_THAT(refusal_of(Code{load(BPF_W, 2, 1, 8), alu_r(BPF_ADD, 1, 2)} + kEnd), HasSubstr("unbounded min value"));
}

TEST(Verifier, RefusesWhatLiesOutsideOfOtherContexts) {
  const auto reads = [](bpf::Context context, int at) {
    return verdict_of({load(BPF_DW, 0, 1, at), leave()}, 0, context).accepted;
  };
  for (const auto& [context, end] : {std::pair(bpf::Context::kProbed, 168), std::pair(bpf::Context::kWords, 96),
                                     std::pair(bpf::Context::kSample, 184)}) {
    EXPECT_TRUE(reads(context, 0) && reads(context, end - 8));
    EXPECT_FALSE(reads(context, -8) || reads(context, end) || reads(context, end - 4));
  }
  EXPECT_THAT(verdict_of(Code{put(BPF_DW, 1, 8, 1)} + kEnd, 0, bpf::Context::kProbed).reason,
              HasSubstr("cannot write into ctx"));
}

TEST(Verifier, RefusesWhatLiesOutsideOfTheStack) {
  EXPECT_THAT(refusal_of(Code{put(BPF_DW, 10, -520, 0)} + kEnd), HasSubstr("invalid stack access off=-520 size=8"));
  EXPECT_THAT(refusal_of(Code{put(BPF_DW, 10, 0, 0)} + kEnd), HasSubstr("invalid stack access"));
  EXPECT_THAT(refusal_of(Code{put(BPF_DW, 10, -12, 0)} + kEnd), HasSubstr("misaligned stack access"));
  EXPECT_THAT(
      refusal_of({load(BPF_B, 2, 1, 8), copy(3, 10), alu_r(BPF_ADD, 3, 2), put(BPF_B, 3, -1, 0), set(0, 0), leave()}),
      HasSubstr("variable stack access"));
  EXPECT_THAT(refusal_of(Code{copy(1, 10), alu(BPF_ADD, 1, -8), set(2, 16), call(BPF_FUNC_get_current_comm)} + kEnd),
              HasSubstr("invalid stack access off=-8 size=16"));
}

TEST(Verifier, RefusesALookupsAnswerThatWasNotCompared) {
  EXPECT_THAT(refusal_of(lookup(kCounts) + Code{load(BPF_DW, 0, 0, 0), leave()}), HasSubstr("compare it with 0 first"));
  EXPECT_THAT(refusal_of(lookup(kCounts) +
                         Code{alu(BPF_ADD, 0, 4), jump(BPF_JEQ, 0, 0, 1), load(BPF_W, 0, 0, 0), set(0, 0), leave()}),
              HasSubstr("null-check it first"));
  EXPECT_THAT(refusal_of(lookup(kCounts) + Code{jump(BPF_JEQ, 0, 0, 1), set(0, 0), load(BPF_W, 0, 0, 0), leave()}),
              HasSubstr("invalid mem access '0'"));
  // A copy is the same pointer, and so is one that was spilled.
  expect_accepted(lookup(kCounts) +
                  Code{copy(7, 0), store(BPF_DW, 10, -16, 0), jump(BPF_JEQ, 0, 0, 3), load(BPF_DW, 8, 7, 0),
                       load(BPF_DW, 9, 10, -16), load(BPF_DW, 9, 9, 0)} +
                  kEnd);
}

TEST(Verifier, RefusesWhatLiesOutsideOfAValue) {
  EXPECT_THAT(refusal_of(found(kCounts) + Code{load(BPF_DW, 0, 0, 4), leave()}),
              HasSubstr("value_size=8 off=4 size=8"));
  EXPECT_THAT(refusal_of(found(kCounts) + Code{load(BPF_B, 0, 0, -1), leave()}), HasSubstr("min value is negative"));
  EXPECT_THAT(refusal_of(map_value(1, kValues, 8) + Code{load(BPF_DW, 0, 1, 4), leave()}), HasSubstr("off=12 size=8"));
  EXPECT_THAT(refusal_of(map_value(1, kValues, 16) + kEnd), HasSubstr("direct value offset of 16"));
  EXPECT_THAT(refusal_of(map_value(1, kCounts, 0) + kEnd), HasSubstr("direct value access"));
  EXPECT_THAT(refusal_of(map_value(1, kReadOnly, 0) + Code{put(BPF_W, 1, 0, 1)} + kEnd),
              HasSubstr("write into map forbidden"));
}

// r7 is an index from the event.
const Code kIndex = {load(BPF_W, 7, 1, 8)};

TEST(Verifier, FollowsWhatIsKnownOfNumbers) {
  const auto indexed = [](const Code& bounds) {
    return kIndex + found(kValues) + bounds + Code{alu_r(BPF_ADD, 0, 7), load(BPF_B, 0, 0, 0), leave()};
  };
  EXPECT_THAT(refusal_of(indexed({})), HasSubstr("unbounded min value or max value"));
  EXPECT_THAT(refusal_of(indexed({alu(BPF_AND, 7, 31)})), HasSubstr("max value is outside"));
  expect_accepted(indexed({alu(BPF_AND, 7, 15)}), "a mask");
  expect_accepted(indexed({jump(BPF_JLT, 7, 16, 2), set(0, 0), leave()}), "a comparison");
  expect_accepted(indexed({jump(BPF_JGT, 7, 15, 3), go(3), set(0, 0), leave(), go(-3)}), "the other way round");
  EXPECT_THAT(refusal_of(indexed({jump(BPF_JLE, 7, 16, 2), set(0, 0), leave()})), HasSubstr("max value is outside"));
  EXPECT_THAT(refusal_of(indexed({jump(BPF_JSLT, 7, 16, 2), set(0, 0), leave(), alu(BPF_SUB, 7, 1)})),
              HasSubstr("min value is negative"));
  expect_accepted(indexed({jump32(BPF_JLT, 7, 16, 2), set(0, 0), leave()}), "32 bits of a number of 32");
  expect_accepted(indexed({alu(BPF_MOD, 7, 16)}));
  expect_accepted(indexed({alu(BPF_RSH, 7, 28)}));
  expect_accepted(indexed({alu(BPF_DIV, 7, 0x10000000)}));
  expect_accepted(indexed({copy(8, 7), jump(BPF_JLT, 8, 16, 2), set(0, 0), leave()}), "a copy was compared");
  // Only the lower half was compared.
  EXPECT_THAT(refusal_of(Code{load(BPF_DW, 7, 1, 8)} + found(kValues) +
                         Code{jump32(BPF_JLT, 7, 16, 2), set(0, 0), leave(), alu_r(BPF_ADD, 0, 7), load(BPF_B, 0, 0, 0),
                              leave()}),
              HasSubstr("unbounded"));
}

TEST(Verifier, RefusesPointersWhereNumbersAreWanted) {
  EXPECT_THAT(refusal_of({copy(0, 10), leave()}), HasSubstr("R0 leaks addr as return value"));
  EXPECT_THAT(refusal_of(found(kCounts) + Code{store(BPF_DW, 0, 0, 10)} + kEnd),
              HasSubstr("R10 leaks addr into map_value"));
  EXPECT_THAT(refusal_of(Code{copy(2, 10), alu(BPF_MUL, 2, 2)} + kEnd), HasSubstr("pointer arithmetic"));
  EXPECT_THAT(refusal_of(Code{copy(2, 10), alu32(BPF_ADD, 2, 2)} + kEnd), HasSubstr("32-bit pointer arithmetic"));
  EXPECT_THAT(refusal_of(Code{copy(2, 10), alu_r(BPF_SUB, 2, 1)} + kEnd), HasSubstr("pointer -= pointer"));
  EXPECT_THAT(refusal_of(Code{copy(2, 10), jump(BPF_JGT, 2, 5, 0)} + kEnd), HasSubstr("pointer comparison"));
  EXPECT_THAT(refusal_of(Code{store(BPF_DW, 10, -8, 1), load(BPF_W, 0, 10, -8), leave()}),
              HasSubstr("spilled pointer"));
  EXPECT_THAT(refusal_of(Code{store(BPF_W, 10, -8, 1)} + kEnd), HasSubstr("invalid size of register spill"));
  EXPECT_THAT(refusal_of(Code{set(1, 5), load(BPF_W, 0, 1, 0), leave()}), HasSubstr("invalid mem access '5'"));
  EXPECT_THAT(refusal_of(map(1, kCounts) + Code{load(BPF_W, 0, 1, 0), leave()}),
              HasSubstr("invalid mem access 'map_ptr"));
  // Half of a pointer is none.
  EXPECT_THAT(
      refusal_of(Code{store(BPF_DW, 10, -8, 1), put(BPF_B, 10, -8, 0), load(BPF_DW, 2, 10, -8), set(0, 0), leave()}),
      HasSubstr("nothing was written there"));
}

TEST(Verifier, RefusesRecordsThatAreNotGivenBackOrTwice) {
  EXPECT_THAT(refusal_of(reserved() + kEnd), HasSubstr("Unreleased reference id=1 alloc_insn=4"));
  EXPECT_THAT(refusal_of(reserved() + Code{copy(6, 0)} + kSubmit + Code{put(BPF_W, 6, 0, 1)} + kEnd),
              HasSubstr("R6 !read_ok"));
  EXPECT_THAT(refusal_of(reserved() + Code{copy(6, 0)} + kSubmit +
                         Code{copy(1, 6), set(2, 0), call(BPF_FUNC_ringbuf_discard)} + kEnd),
              HasSubstr("R6 !read_ok"));
  EXPECT_THAT(refusal_of(reserved() + Code{alu(BPF_ADD, 0, 8)} + kSubmit + kEnd),
              HasSubstr("as bpf_ringbuf_reserve() gave it"));
  EXPECT_THAT(refusal_of(reserved() + Code{put(BPF_DW, 0, 12, 1)} + kSubmit + kEnd),
              HasSubstr("value_size=16 off=12 size=8"));
  EXPECT_THAT(
      refusal_of(Code{load(BPF_W, 2, 1, 8)} + map(1, kRing) + Code{set(3, 0), call(BPF_FUNC_ringbuf_reserve)} + kEnd),
      HasSubstr("not a known constant"));
}

TEST(Verifier, RefusesArgumentsThatHelpersDoNotTake) {
  EXPECT_THAT(refusal_of(map(1, kRing) + Code{copy(2, 10), call(BPF_FUNC_map_lookup_elem)} + kEnd),
              HasSubstr("cannot pass map_type 27"));
  EXPECT_THAT(refusal_of(Code{set(1, 0), copy(2, 10), call(BPF_FUNC_map_lookup_elem)} + kEnd),
              HasSubstr("expected=map_ptr"));
  EXPECT_THAT(refusal_of(Code{copy(1, 10), alu(BPF_ADD, 1, -16), set(2, 0), call(BPF_FUNC_get_current_comm)} + kEnd),
              HasSubstr("zero-sized"));
  EXPECT_THAT(refusal_of(Code{load(BPF_W, 2, 1, 8), copy(1, 10), alu(BPF_ADD, 1, -16), set(3, 0),
                              call(BPF_FUNC_probe_read_user)} +
                         kEnd),
              HasSubstr("unbounded memory access"));
  // No bytes of nothing either: the helper looks for them all the same.
  EXPECT_THAT(refusal_of(Code{set(1, 0), set(2, 0), set(3, 0), call(BPF_FUNC_probe_read_kernel)} + kEnd),
              HasSubstr("R1 type=0 expected=fp"));
  EXPECT_THAT(refusal_of(map(1, kRing) + Code{set(2, 0), set(3, 0), set(4, 0), call(BPF_FUNC_ringbuf_output)} + kEnd),
              HasSubstr("R2 type=0 expected=fp"));
  const Code none = {set(2, 0), set(3, 0), call(BPF_FUNC_probe_read_kernel)};
  expect_accepted(Code{copy(1, 10), alu(BPF_ADD, 1, -8)} + none + kEnd);
  EXPECT_THAT(refusal_of(Code{copy(1, 10)} + none + kEnd), HasSubstr("invalid stack access off=0 size=0 by R1"));
  EXPECT_THAT(refusal_of(lookup(kCounts) + Code{copy(1, 0)} + none + kEnd), HasSubstr("compare it with 0 first"));
  EXPECT_THAT(refusal_of(map(1, kCounts) + none + kEnd), HasSubstr("R1 invalid mem access 'map_ptr"));
  expect_accepted(found(kCounts) + Code{copy(1, 0), alu(BPF_ADD, 1, 8)} + none + kEnd, "behind the last byte");
  EXPECT_THAT(refusal_of(found(kCounts) + Code{copy(1, 0), alu(BPF_ADD, 1, 100'000)} + none + kEnd),
              HasSubstr("value_size=8 off=100000 size=0"));
  EXPECT_THAT(refusal_of(map_value(1, kReadOnly, 0) + none + kEnd), HasSubstr("write into map forbidden"));
  EXPECT_THAT(refusal_of(map(2, kStacks) + Code{copy(1, 10), set(3, 0), call(BPF_FUNC_get_stackid)} + kEnd),
              HasSubstr("expected=ctx"));
  expect_accepted(Code{load(BPF_W, 2, 1, 8), alu(BPF_AND, 2, 7), alu(BPF_ADD, 2, 1), copy(1, 10), alu(BPF_ADD, 1, -8),
                       put(BPF_DW, 10, -8, 0), call(BPF_FUNC_get_current_comm)} +
                  kEnd);
}

TEST(Verifier, GoesThroughLoopsThatEnd) {
  expect_accepted(Code{set(0, 0), alu(BPF_ADD, 0, 1), jump(BPF_JLT, 0, 100, -2), leave()});
  EXPECT_THAT(refusal_of(Code{set(0, 0), go(-1), leave()}), HasSubstr("unreachable"));
  EXPECT_THAT(refusal_of(Code{set(0, 0), load(BPF_W, 2, 1, 8), jump(BPF_JNE, 2, 0, -1), leave()}),
              HasSubstr("infinite loop detected at insn 2"));
  const Verdict endless = verdict_of(Code{set(0, 0), alu(BPF_ADD, 0, 1), jump(BPF_JNE, 0, -5, -2), leave()});
  EXPECT_FALSE(endless.accepted);
  EXPECT_EQ(endless.error, E2BIG);
  EXPECT_THAT(endless.reason, HasSubstr("too large"));
}

TEST(Verifier, FollowsSubprograms) {
  expect_accepted(Code{set(1, 2), call_here(1), leave(), copy(0, 1), leave()});
  EXPECT_THAT(refusal_of({set(6, 2), call_here(1), leave(), copy(0, 6), leave()}), HasSubstr("R6 !read_ok"));
  EXPECT_THAT(refusal_of({set(2, 2), call_here(2), copy(0, 2), leave(), set(0, 0), leave()}), HasSubstr("R2 !read_ok"));
  EXPECT_THAT(refusal_of({call_here(1), leave(), call_here(-1), leave()}),
              HasSubstr("the call stack of 9 frames is too deep"));
  EXPECT_THAT(refusal_of({call_here(1), leave(), copy(0, 10), leave()}), HasSubstr("cannot return stack pointer"));
  // It need not return anything. Then nothing is there, nor is it what the caller had.
  expect_accepted({call_here(2), set(0, 0), leave(), leave()});
  EXPECT_THAT(refusal_of({set(0, 0), call_here(1), leave(), leave()}), HasSubstr("R0 !read_ok"));
  // It may write to its caller's stack by a pointer, and what it has written can be read there.
  expect_accepted({copy(1, 10), alu(BPF_ADD, 1, -8), call_here(2), load(BPF_DW, 0, 10, -8), leave(),
                   put(BPF_DW, 1, 0, 3), set(0, 0), leave()});
  EXPECT_EQ(verdict_of({call_here(1), leave(), set(0, 0), leave()}).frames, 2u);
}

TEST(Verifier, TheLogSaysWhichInstructionAndWhatWasKnown) {
  const Verdict refused = verdict_of(found(kCounts) + Code{load(BPF_DW, 0, 0, 4), leave()}, 2);
  EXPECT_THAT(refused.log, HasSubstr("0: (62) *(u32 *)(r10 -4) = 0\n"));
  EXPECT_THAT(refused.log, HasSubstr("call map_lookup_elem#1\n"));
  EXPECT_THAT(refused.log, HasSubstr("R0=map_value(map=0)"));
  EXPECT_THAT(refused.log, HasSubstr("9: (79) r0 = *(u64 *)(r0 +4)\ninvalid access to map value"));
  EXPECT_THAT(refused.log, HasSubstr("processed "));
  // Without a log the reason has the instruction.
  EXPECT_THAT(refusal_of({copy(0, 5), leave()}), HasSubstr("0: (bf) r0 = r5\nR5 !read_ok"));
}

// Eight frames whose stacks are full, and `jumps` ways in the last one that do not meet: each has another number in r8.
Code deep(int jumps) {
  Code code;
  for (int frame = 1; frame < 8; ++frame) {
    for (int slot = 1; slot <= 64; ++slot) code.push_back(put(BPF_DW, 10, -8 * slot, slot));
    code = code + Code{call_here(1), leave()};
  }
  code = code + Code{call(BPF_FUNC_get_prandom_u32), copy(7, 0), set(8, 0)};
  for (int i = 0; i < jumps; ++i)
    code = code + Code{jump(BPF_JSET, 7, 1 << (i % 30), 1), alu(BPF_ADD, 8, 1 << (i % 30))};
  return code + Code{copy(0, 8), leave()};
}

TEST(Verifier, StatesTakeNoMoreMemoryThanThereMayBe) {
  const Verdict few = verdict_of(deep(4));
  EXPECT_TRUE(few.accepted) << few.reason;
  EXPECT_GT(few.state_bytes, 16 * 7 * 64 * std::size_t{8}) << "they were not counted";
  const Verdict many = verdict_of(deep(30));
  EXPECT_FALSE(many.accepted);
  EXPECT_EQ(many.error, E2BIG);
  EXPECT_GT(many.state_bytes, kMaxStateBytes / 2);
  EXPECT_LE(many.state_bytes, 2 * kMaxStateBytes);
}

TEST(Verifier, AProgramOfManyWaysIsRefusedWhereTheyTakeTooMuchMemory) {
  // Each round leaves a way that is still to be gone, with all frames.
  Code code = deep(0);
  code.resize(code.size() - 2);
  code = code + Code{set(9, 0),
                     call(BPF_FUNC_get_prandom_u32),
                     jump(BPF_JEQ, 0, 5, 2),
                     alu(BPF_ADD, 9, 1),
                     jump(BPF_JLT, 9, 5000, -4),
                     set(0, 0),
                     leave()};
  const Verdict verdict = verdict_of(code);
  EXPECT_EQ(verdict.error, E2BIG);
  EXPECT_THAT(verdict.reason, HasSubstr("jumps is too complex"));
  EXPECT_LE(verdict.state_bytes, 2 * kMaxStateBytes);
}

// Eight frames full of numbers that are told apart, and a loop that counts where it is looked last: in the first one's
// last slot. It took minutes, though no more instructions were looked at than may be.
TEST(Verifier, AProgramWhoseStatesTakeLongToCompareIsRefused) {
  Code code{copy(6, 10), put(BPF_DW, 10, -512, 0)};
  for (int frame = 0; frame < 8; ++frame) {
    for (int slot = 1; slot <= (frame == 0 ? 63 : 64); ++slot) {
      code = code + Code{call(BPF_FUNC_get_prandom_u32), copy(7, 0), store(BPF_DW, 10, -8 * slot, 7)};
    }
    if (frame < 7) code = code + Code{copy(1, 6), call_here(2), set(0, 0), leave(), copy(6, 1)};
  }
  const auto counting = [&](int rounds) {
    return verdict_of(code + Code{load(BPF_DW, 2, 6, -512), alu(BPF_ADD, 2, 1), store(BPF_DW, 6, -512, 2),
                                  jump(BPF_JLT, 2, rounds, -4), set(0, 0), leave()});
  };
  const Verdict few = counting(50);
  EXPECT_TRUE(few.accepted) << few.reason;
  const Verdict many = counting(30'000);
  EXPECT_EQ(many.error, E2BIG);
  EXPECT_THAT(many.reason, HasSubstr("too complex: what is known at insn 1570 was compared too often"));
}

// Ways that meet with nothing new are not gone again: else this were 2^40.
TEST(Verifier, WaysThatMeetAreGoneOnce) {
  Code code = {load(BPF_W, 7, 1, 8)};
  for (int i = 0; i < 40; ++i) code = code + Code{jump(BPF_JSET, 7, 1 << (i % 20), 1), set(2, i), set(2, 0)};
  const Verdict verdict = verdict_of(code + kEnd);
  EXPECT_TRUE(verdict.accepted) << verdict.reason;
  EXPECT_LT(verdict.processed, 50'000u);
}

}  // namespace
}  // namespace landtrace::verifier
