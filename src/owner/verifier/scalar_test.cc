#include "verifier/scalar.hpp"

#include <gtest/gtest.h>
#include <linux/bpf.h>

#include <random>

#include "bpf/test_arithmetic.hpp"

namespace landtrace::verifier {
namespace {

constexpr std::uint8_t kOperations[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_OR,   BPF_AND,
                                        BPF_LSH, BPF_RSH, BPF_MOD, BPF_XOR, BPF_ARSH, BPF_NEG};
constexpr std::uint8_t kJumps[] = {BPF_JEQ,  BPF_JNE,  BPF_JGT,  BPF_JGE,  BPF_JLT, BPF_JLE,
                                   BPF_JSET, BPF_JSGT, BPF_JSGE, BPF_JSLT, BPF_JSLE};

using bpf::Arithmetic;

// A number, and something that is known of it.
struct Known {
  std::uint64_t number;
  Scalar scalar;
};

class Random {
 public:
  std::uint64_t number() {
    switch (random_() % 6) {
      case 0:
        return random_() % 70;
      case 1:
        return 0 - random_() % 70;
      case 2:
        return static_cast<std::uint32_t>(random_());
      case 3:
        return 0x7fffffffull + random_() % 4;
      case 4:
        return (1ull << 63) - 2 + random_() % 4;
      default:
        return random_();
    }
  }
  Known known() {
    const std::uint64_t x = number();
    Known made{x, Scalar()};
    switch (random_() % 5) {
      case 0:
        made.scalar = Scalar::constant(x);
        break;
      case 1: {
        const std::uint64_t unknown = random_() & random_();
        made.scalar.bits = {x & ~unknown, unknown};
        break;
      }
      case 2: {
        const std::uint64_t below = random_() >> random_() % 64, above = random_() >> random_() % 64;
        made.scalar.least = x < below ? 0 : x - below;
        made.scalar.most = x > ~0ull - above ? ~0ull : x + above;
        break;
      }
      case 3: {
        const auto s = static_cast<std::int64_t>(x);
        const auto span = static_cast<std::int64_t>(random_() >> (1 + random_() % 63));
        made.scalar.signed_least = s < INT64_MIN + span ? INT64_MIN : s - span;
        made.scalar.signed_most = s > INT64_MAX - span ? INT64_MAX : s + span;
        break;
      }
      default:
        break;
    }
    made.scalar.settle();
    return made;
  }
  std::uint64_t operator()() { return random_(); }

 private:
  std::mt19937_64 random_{5};
};

bool has(const Scalar& scalar, std::uint64_t number) {
  return !scalar.is_empty() && scalar.covers(Scalar::constant(number));
}

TEST(Scalar, WhatIsKnownOfAResultIsTrueOfIt) {
  Random random;
  for (int i = 0; i < 100'000; ++i) {
    const Known a = random.known(), b = random.known();
    ASSERT_TRUE(has(a.scalar, a.number)) << a.scalar.text();
    const std::uint8_t operation = kOperations[random() % std::size(kOperations)];
    const bool is_64 = random() % 2 == 0;
    const Scalar result = calculated(operation, is_64, a.scalar, b.scalar);
    ASSERT_TRUE(has(result, Arithmetic(is_64).result(operation, a.number, b.number)))
        << int{operation} << (is_64 ? " " : " 32: ") << a.scalar.text() << " " << b.scalar.text() << " -> "
        << result.text() << " has not " << Arithmetic(is_64).result(operation, a.number, b.number);
  }
}

TEST(Scalar, WhatIsKnownOfAJumpIsTrueOfIt) {
  Random random;
  for (int i = 0; i < 100'000; ++i) {
    const Known a = random.known(), b = random.known();
    const std::uint8_t operation = kJumps[random() % std::size(kJumps)];
    const bool is_64 = random() % 2 == 0;
    const bool taken = Arithmetic(is_64).jumps(operation, a.number, b.number);
    const Outcome outcome = compared(operation, is_64, a.scalar, b.scalar);
    ASSERT_NE(outcome, taken ? Outcome::kNever : Outcome::kAlways)
        << int{operation} << " " << a.scalar.text() << " " << b.scalar.text();
    Scalar x = a.scalar, y = b.scalar;
    narrow(operation, is_64, taken, x, y);
    ASSERT_TRUE(has(x, a.number)) << int{operation} << (is_64 ? " " : " 32 ") << taken << " " << a.scalar.text() << " "
                                  << b.scalar.text() << " -> " << x.text();
    ASSERT_TRUE(has(y, b.number)) << int{operation} << (is_64 ? " " : " 32 ") << taken << " " << a.scalar.text() << " "
                                  << b.scalar.text() << " -> " << y.text();
    ASSERT_TRUE(has(a.scalar.truncated(), static_cast<std::uint32_t>(a.number)));
  }
}

TEST(Scalar, KnowsMoreThanNothing) {
  const Scalar byte = Scalar::of_size(1);
  EXPECT_EQ(calculated(BPF_AND, true, Scalar(), Scalar::constant(15)).most, 15u);
  EXPECT_EQ(calculated(BPF_ADD, true, byte, byte).most, 510u);
  EXPECT_EQ(calculated(BPF_LSH, true, byte, Scalar::constant(3)).most, 255u * 8);
  EXPECT_EQ(calculated(BPF_LSH, true, byte, Scalar::constant(3)).bits.value & 7, 0u);
  EXPECT_EQ(calculated(BPF_RSH, false, Scalar(), Scalar::constant(24)).most, 255u);
  EXPECT_EQ(calculated(BPF_MOD, true, Scalar(), Scalar::constant(10)).most, 9u);
  EXPECT_EQ(compared(BPF_JGT, true, byte, Scalar::constant(255)), Outcome::kNever);
  EXPECT_EQ(compared(BPF_JSET, true, calculated(BPF_OR, true, byte, Scalar::constant(8)), Scalar::constant(8)),
            Outcome::kAlways);
  Scalar a = byte, b = Scalar::constant(20);
  narrow(BPF_JLT, true, true, a, b);
  EXPECT_EQ(a.most, 19u);
  a = byte;
  narrow(BPF_JEQ, false, true, a, b = Scalar::constant(7));
  EXPECT_TRUE(a.is_constant());
}

}  // namespace
}  // namespace landtrace::verifier
