#include "attach/seccomp_filter.hpp"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>

#include <cstddef>

namespace landtrace::attach {
namespace {

using Answers = std::set<std::uint32_t>;

sock_filter line(unsigned code, std::uint32_t k, unsigned if_true = 0, unsigned if_false = 0) {
  return {static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(if_true), static_cast<std::uint8_t>(if_false), k};
}
sock_filter load(std::size_t offset) { return line(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
sock_filter answer(std::uint32_t value) { return line(BPF_RET | BPF_K, value); }
constexpr std::size_t kNumber = offsetof(seccomp_data, nr);
constexpr std::size_t argument(unsigned i, unsigned half = 0) {
  return offsetof(seccomp_data, args) + 8 * i + 4 * half;
}
SeccompCall call(std::uint32_t number) { return {number, {}}; }

// What A is behind the lines, by a filter that answers it.
std::uint32_t result_of(SeccompFilter lines, const SeccompCall& of = {}) {
  lines.push_back(line(BPF_RET | BPF_A, 0));
  const Answers answers = answers_of(lines, of);
  EXPECT_EQ(answers.size(), 1u);
  return *answers.begin();
}

TEST(SeccompFilter, AnswersByTheCallsNumberAndMachine) {
  const SeccompFilter filter{load(offsetof(seccomp_data, arch)),
                             line(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 2),
                             load(kNumber),
                             line(BPF_JMP | BPF_JEQ | BPF_K, 9, 1, 0),
                             answer(SECCOMP_RET_ALLOW),
                             answer(SECCOMP_RET_KILL_PROCESS)};
  EXPECT_EQ(answers_of(filter, call(9)), Answers{SECCOMP_RET_KILL_PROCESS});
  EXPECT_EQ(answers_of(filter, call(10)), Answers{SECCOMP_RET_ALLOW});
}

TEST(SeccompFilter, AnswersEitherWayWhereAnArgumentIsNotKnown) {
  const SeccompFilter filter{load(argument(2)), line(BPF_ALU | BPF_AND | BPF_K, 4),
                             line(BPF_JMP | BPF_JEQ | BPF_K, 4, 0, 1), answer(SECCOMP_RET_ERRNO | 1),
                             answer(SECCOMP_RET_ALLOW)};
  SeccompCall protect = call(10);
  EXPECT_EQ(answers_of(filter, protect), (Answers{SECCOMP_RET_ERRNO | 1, SECCOMP_RET_ALLOW}));
  protect.arguments[2] = 7;
  EXPECT_EQ(answers_of(filter, protect), Answers{SECCOMP_RET_ERRNO | 1});
  protect.arguments[2] = 3;
  EXPECT_EQ(answers_of(filter, protect), Answers{SECCOMP_RET_ALLOW});
}

TEST(SeccompFilter, SeesBothHalvesOfAnArgument) {
  SeccompCall one = call(1);
  one.arguments[1] = 0x12345678'9abcdef0;
  EXPECT_EQ(result_of({load(argument(1, 0))}, one), 0x9abcdef0u);
  EXPECT_EQ(result_of({load(argument(1, 1))}, one), 0x12345678u);
  one.arguments[0] = 5;
  one.arguments[5] = 7;
  EXPECT_EQ(result_of({load(argument(0))}, one), 5u);
  EXPECT_EQ(result_of({load(argument(5, 0))}, one), 7u);
  EXPECT_EQ(result_of({load(argument(5, 1))}, one), 0u);
}

TEST(SeccompFilter, Calculates) {
  const auto of = [](unsigned operation, std::uint32_t a, std::uint32_t k) {
    const auto constant = result_of({line(BPF_LD | BPF_IMM, a), line(BPF_ALU | operation | BPF_K, k)});
    const auto variable =
        result_of({line(BPF_LD | BPF_IMM, a), line(BPF_LDX | BPF_IMM, k), line(BPF_ALU | operation | BPF_X, 77)});
    EXPECT_EQ(constant, variable);
    return constant;
  };
  EXPECT_EQ(of(BPF_ADD, 7, 5), 12u);
  EXPECT_EQ(of(BPF_SUB, 5, 7), 0xfffffffeu);
  EXPECT_EQ(of(BPF_MUL, 7, 5), 35u);
  EXPECT_EQ(of(BPF_DIV, 36, 5), 7u);
  EXPECT_EQ(of(BPF_AND, 12, 10), 8u);
  EXPECT_EQ(of(BPF_OR, 12, 10), 14u);
  EXPECT_EQ(of(BPF_XOR, 12, 10), 6u);
  EXPECT_EQ(of(BPF_LSH, 3, 4), 48u);
  EXPECT_EQ(of(BPF_RSH, 48, 4), 3u);
  EXPECT_EQ(result_of({line(BPF_LD | BPF_IMM, 5), line(BPF_ALU | BPF_NEG, 0)}), 0xfffffffbu);
}

TEST(SeccompFilter, Compares) {
  const auto of = [](unsigned comparison, std::uint32_t a, std::uint32_t k) {
    return answers_of({line(BPF_LD | BPF_IMM, a), line(BPF_JMP | comparison | BPF_K, k, 0, 1), answer(1), answer(0)},
                      {}) == Answers{1};
  };
  EXPECT_TRUE(of(BPF_JEQ, 5, 5));
  EXPECT_FALSE(of(BPF_JEQ, 5, 6));
  EXPECT_TRUE(of(BPF_JGT, 6, 5));
  EXPECT_FALSE(of(BPF_JGT, 5, 5));
  EXPECT_TRUE(of(BPF_JGE, 5, 5));
  EXPECT_FALSE(of(BPF_JGE, 4, 5));
  EXPECT_TRUE(of(BPF_JSET, 6, 4));
  EXPECT_FALSE(of(BPF_JSET, 6, 1));
}

TEST(SeccompFilter, KeepsWords) {
  EXPECT_EQ(result_of({line(BPF_LD | BPF_IMM, 5), line(BPF_ST, 3), line(BPF_LDX | BPF_IMM, 6), line(BPF_STX, 15),
                       line(BPF_LD | BPF_MEM, 15), line(BPF_LDX | BPF_MEM, 3), line(BPF_ALU | BPF_MUL | BPF_X, 0)}),
            30u);
  EXPECT_EQ(result_of({line(BPF_LD | BPF_IMM, 5), line(BPF_MISC | BPF_TAX, 0), line(BPF_LD | BPF_IMM, 9),
                       line(BPF_MISC | BPF_TXA, 0)}),
            5u);
  EXPECT_EQ(result_of({line(BPF_LD | BPF_LEN, 0)}), 64u);
}

// Two ways that meet again with different values.
TEST(SeccompFilter, KnowsBehindTwoWaysOnlyWhatIsAlikeOnBoth) {
  const auto joined = [](std::uint32_t one, std::uint32_t other) {
    return answers_of({load(argument(0)), line(BPF_JMP | BPF_JEQ | BPF_K, 1, 2, 0), line(BPF_LD | BPF_IMM, one),
                       line(BPF_JMP | BPF_JA, 1), line(BPF_LD | BPF_IMM, other),
                       line(BPF_JMP | BPF_JEQ | BPF_K, 7, 0, 1), answer(1), answer(2)},
                      call(1));
  };
  EXPECT_EQ(joined(7, 7), Answers{1});
  EXPECT_EQ(joined(8, 9), (Answers{1, 2}));
  EXPECT_EQ(joined(7, 9), (Answers{1, 2}));
}

TEST(SeccompFilter, EndsTheProcessWhereItIsNone) {
  EXPECT_EQ(answers_of({}, call(1)), Answers{SECCOMP_RET_KILL_PROCESS});
  EXPECT_EQ(answers_of({line(BPF_JMP | BPF_JA, 5), answer(SECCOMP_RET_ALLOW)}, call(1)),
            Answers{SECCOMP_RET_KILL_PROCESS});
}

}  // namespace
}  // namespace landtrace::attach
