// What instructions calculate, as RFC 9669 says it in words: whole numbers, and what is left of them in 32 or 64 bits.
// Not a line is shared with the interpreter, the compiler or the verifier, which tests compare with it.
#pragma once

#include <linux/bpf.h>

#include <cstdint>

namespace landtrace::bpf {

class Arithmetic {
 public:
  explicit Arithmetic(bool is_64) : bits_(is_64 ? 64 : 32), size_(Whole{1} << bits_) {}

  [[nodiscard]] std::uint64_t result(int operation, std::uint64_t left, std::uint64_t right) const {
    const Whole a = number(left), b = number(right);
    switch (operation) {
      case BPF_ADD:
        return in_range(a + b);
      case BPF_SUB:
        return in_range(a - b);
      case BPF_NEG:
        return in_range(-a);
      case BPF_MUL:
        return product(a, b);
      case BPF_DIV:
        return b == 0 ? 0 : quotient(a, b);
      case BPF_MOD:
        return b == 0 ? in_range(a) : in_range(a - static_cast<Whole>(quotient(a, b)) * b);
      case BPF_LSH:
        return product(a, Whole{1} << shift(b));
      case BPF_RSH:
        return quotient(a, Whole{1} << shift(b));
      case BPF_ARSH:
        return in_range(rounded_down(signed_number(left), Whole{1} << shift(b)));
      default:
        return bit_by_bit(operation, a, b);
    }
  }

  [[nodiscard]] bool jumps(int operation, std::uint64_t left, std::uint64_t right) const {
    if (operation == BPF_JSET) return bit_by_bit(BPF_AND, number(left), number(right)) != 0;
    for (const Comparison& one : kComparisons) {
      if (one.operation != operation) continue;
      const Whole distance = one.is_signed ? signed_number(left) - signed_number(right) : number(left) - number(right);
      return distance < 0 ? one.less : (distance == 0 ? one.same : one.more);
    }
    return false;
  }

 private:
  // Wide enough for the sum, and for a number with a sign.
  __extension__ using Whole = __int128;
  struct Comparison {
    int operation;
    bool is_signed, less, same, more;
  };
  static constexpr Comparison kComparisons[] = {
      {BPF_JEQ, false, false, true, false}, {BPF_JNE, false, true, false, true},  {BPF_JGT, false, false, false, true},
      {BPF_JGE, false, false, true, true},  {BPF_JLT, false, true, false, false}, {BPF_JLE, false, true, true, false},
      {BPF_JSGT, true, false, false, true}, {BPF_JSGE, true, false, true, true},  {BPF_JSLT, true, true, false, false},
      {BPF_JSLE, true, true, true, false},
  };

  [[nodiscard]] Whole number(std::uint64_t bits) const { return static_cast<Whole>(bits) % size_; }
  [[nodiscard]] Whole signed_number(std::uint64_t bits) const {
    const Whole n = number(bits);
    return n < size_ / 2 ? n : n - size_;
  }
  [[nodiscard]] std::uint64_t in_range(Whole n) const {
    return static_cast<std::uint64_t>((n % size_ + size_) % size_);
  }
  [[nodiscard]] Whole shift(Whole by) const { return by % bits_; }
  static Whole rounded_down(Whole n, Whole by) { return n >= 0 ? n / by : -((-n + by - 1) / by); }

  // By doubling: the whole product would not fit.
  [[nodiscard]] std::uint64_t product(Whole a, Whole b) const {
    Whole sum = 0;
    for (Whole part = a; b != 0; b /= 2, part = part * 2 % size_) {
      if (b % 2 != 0) sum = (sum + part) % size_;
    }
    return in_range(sum);
  }
  // As on paper.
  [[nodiscard]] std::uint64_t quotient(Whole a, Whole b) const {
    std::uint64_t digits = 0;
    Whole rest = 0;
    for (int i = bits_ - 1; i >= 0; --i) {
      rest = rest * 2 + (a / (Whole{1} << i)) % 2;
      digits *= 2;
      if (rest < b) continue;
      rest -= b;
      digits += 1;
    }
    return digits;
  }
  [[nodiscard]] std::uint64_t bit_by_bit(int operation, Whole a, Whole b) const {
    std::uint64_t found = 0;
    for (int i = 0; i < bits_; ++i) {
      const Whole ones = a / (Whole{1} << i) % 2 + b / (Whole{1} << i) % 2;
      const bool is_one = operation == BPF_AND ? ones == 2 : (operation == BPF_OR ? ones > 0 : ones == 1);
      if (is_one) found += std::uint64_t{1} << i;
    }
    return found;
  }

  int bits_;
  Whole size_;
};

}  // namespace landtrace::bpf
