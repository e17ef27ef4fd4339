// What the verifier knows of a number: which bits it has, and between which bounds it lies.
#pragma once

#include <cstdint>
#include <string>

namespace landtrace::verifier {

// Known bits, and those that may be either (1 in `unknown`; 0 in `value` there).
struct Bits {
  std::uint64_t value = 0;
  std::uint64_t unknown = ~0ull;

  static Bits constant(std::uint64_t number) { return {number, 0}; }
  // That has all numbers of the range.
  static Bits between(std::uint64_t least, std::uint64_t most);
  bool operator==(const Bits&) const = default;

  // Whether each number of the other is one of these.
  [[nodiscard]] bool covers(const Bits& other) const {
    return (other.unknown & ~unknown) == 0 && ((value ^ other.value) & ~unknown) == 0;
  }
};

// All bounds are part of it. A default one is any number.
struct Scalar {
  Bits bits;
  std::uint64_t least = 0;
  std::uint64_t most = ~0ull;
  std::int64_t signed_least = INT64_MIN;
  std::int64_t signed_most = INT64_MAX;

  static Scalar constant(std::uint64_t number);
  // Of that many bytes, 1 to 8.
  static Scalar of_size(std::uint32_t bytes);
  static Scalar between(std::uint64_t least, std::uint64_t most);
  bool operator==(const Scalar&) const = default;

  [[nodiscard]] bool is_constant() const { return bits.unknown == 0; }
  // There is no such number: whatever led here cannot happen.
  [[nodiscard]] bool is_empty() const { return is_contradiction_; }
  [[nodiscard]] bool covers(const Scalar& other) const {
    return bits.covers(other.bits) && least <= other.least && most >= other.most &&
           signed_least <= other.signed_least && signed_most >= other.signed_most;
  }
  [[nodiscard]] bool fits_32() const { return most <= UINT32_MAX; }
  // "5", "scalar(umin=1,umax=9,var_off=(0x0; 0xf))"
  [[nodiscard]] std::string text() const;

  // What each says of the others.
  Scalar& settle();
  // Its lower 32 bits, zeros above them.
  [[nodiscard]] Scalar truncated() const;

  bool is_contradiction_ = false;
};

// `operation` is BPF_ADD … BPF_ARSH or BPF_NEG (of the first); both operands are truncated, and the result, where it is
// one of 32 bits.
Scalar calculated(std::uint8_t operation, bool is_64, const Scalar& a, const Scalar& b);

enum class Outcome { kNever, kAlways, kPerhaps };
// Of a jump: BPF_JEQ … BPF_JSLE.
Outcome compared(std::uint8_t operation, bool is_64, const Scalar& a, const Scalar& b);
// What both are where the jump was taken, or was not.
void narrow(std::uint8_t operation, bool is_64, bool taken, Scalar& a, Scalar& b);

}  // namespace landtrace::verifier
