#include "verifier/scalar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "verifier/bpf_names.hpp"

namespace landtrace::verifier {
namespace {

constexpr std::uint64_t kSign = 1ull << 63;

Bits plus(const Bits& a, const Bits& b) {
  const std::uint64_t value = a.value + b.value;
  // Where a carry may or may not come.
  const std::uint64_t carries = (a.unknown + b.unknown + value) ^ value;
  const std::uint64_t unknown = carries | a.unknown | b.unknown;
  return {value & ~unknown, unknown};
}

Bits minus(const Bits& a, const Bits& b) {
  const std::uint64_t value = a.value - b.value;
  const std::uint64_t borrows = (value + a.unknown) ^ (value - b.unknown);
  const std::uint64_t unknown = borrows | a.unknown | b.unknown;
  return {value & ~unknown, unknown};
}

Bits times(const Bits& a, const Bits& b) {
  Bits sum = Bits::constant(0);
  for (unsigned i = 0; i < 64; ++i) {
    if ((a.value >> i & 1) != 0) sum = plus(sum, {b.value << i, b.unknown << i});
    // Either nothing is added or b: of what b may have nothing is sure.
    if ((a.unknown >> i & 1) != 0) sum = plus(sum, {0, (b.value | b.unknown) << i});
  }
  return sum;
}

Bits both(const Bits& a, const Bits& b) {
  const std::uint64_t value = a.value & b.value;
  return {value, (a.value | a.unknown) & (b.value | b.unknown) & ~value};
}

Bits either(const Bits& a, const Bits& b) {
  const std::uint64_t value = a.value | b.value;
  return {value, (a.unknown | b.unknown) & ~value};
}

Bits one_of(const Bits& a, const Bits& b) {
  const std::uint64_t unknown = a.unknown | b.unknown;
  return {(a.value ^ b.value) & ~unknown, unknown};
}

std::uint64_t shifted_arithmetically(std::uint64_t number, unsigned by) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(number) >> by);
}

Scalar of_bits(const Bits& bits) {
  Scalar result;
  result.bits = bits;
  return result.settle();
}

Scalar sum_of(const Scalar& a, const Scalar& b) {
  Scalar r;
  r.bits = plus(a.bits, b.bits);
  if (__builtin_add_overflow(a.signed_least, b.signed_least, &r.signed_least) ||
      __builtin_add_overflow(a.signed_most, b.signed_most, &r.signed_most)) {
    r.signed_least = INT64_MIN;
    r.signed_most = INT64_MAX;
  }
  if (__builtin_add_overflow(a.most, b.most, &r.most)) {
    r.most = ~0ull;
  } else {
    r.least = a.least + b.least;
  }
  return r.settle();
}

Scalar difference_of(const Scalar& a, const Scalar& b) {
  Scalar r;
  r.bits = minus(a.bits, b.bits);
  if (__builtin_sub_overflow(a.signed_least, b.signed_most, &r.signed_least) ||
      __builtin_sub_overflow(a.signed_most, b.signed_least, &r.signed_most)) {
    r.signed_least = INT64_MIN;
    r.signed_most = INT64_MAX;
  }
  if (a.least >= b.most) {
    r.least = a.least - b.most;
    r.most = a.most - b.least;
  }
  return r.settle();
}

Scalar product_of(const Scalar& a, const Scalar& b) {
  Scalar r;
  r.bits = times(a.bits, b.bits);
  if (a.fits_32() && b.fits_32()) {
    r.least = a.least * b.least;
    r.most = a.most * b.most;
  }
  return r.settle();
}

Scalar quotient_of(const Scalar& a, const Scalar& b) {
  // By 0 it is 0.
  if (b.is_constant() && b.least == 0) return Scalar::constant(0);
  if (b.least > 0) return Scalar::between(a.least / b.most, a.most / b.least);
  return Scalar::between(0, a.most);
}

Scalar rest_of(const Scalar& a, const Scalar& b) {
  // By 0 the number stays as it is.
  if (b.is_constant() && b.least == 0) return a;
  if (b.least > 0) return Scalar::between(0, std::min(a.most, b.most - 1));
  return Scalar::between(0, a.most);
}

Scalar shifted_left(const Scalar& a, unsigned by) {
  Scalar r;
  r.bits = {a.bits.value << by, a.bits.unknown << by};
  if (a.most <= ~0ull >> by) {
    r.least = a.least << by;
    r.most = a.most << by;
  }
  return r.settle();
}

Scalar shifted_right(const Scalar& a, unsigned by) {
  Scalar r;
  r.bits = {a.bits.value >> by, a.bits.unknown >> by};
  r.least = a.least >> by;
  r.most = a.most >> by;
  return r.settle();
}

Scalar shifted_with_sign(const Scalar& a, unsigned by) {
  Scalar r;
  r.bits = {shifted_arithmetically(a.bits.value, by) & ~shifted_arithmetically(a.bits.unknown, by),
            shifted_arithmetically(a.bits.unknown, by)};
  r.signed_least = a.signed_least >> by;
  r.signed_most = a.signed_most >> by;
  return r.settle();
}

Scalar shifted(std::uint8_t operation, bool is_64, const Scalar& a, const Scalar& b) {
  if (!b.is_constant()) return operation == BPF_RSH ? Scalar::between(0, a.most) : Scalar();
  const auto by = static_cast<unsigned>(b.least & (is_64 ? 63 : 31));
  if (operation == BPF_LSH) return shifted_left(a, by);
  if (operation == BPF_RSH) return shifted_right(a, by);
  if (is_64) return shifted_with_sign(a, by);
  // The sign of 32 bits.
  return a.most <= INT32_MAX ? shifted_right(a, by) : Scalar();
}

Scalar calculated_64(std::uint8_t operation, bool is_64, const Scalar& a, const Scalar& b) {
  switch (operation) {
    case BPF_ADD:
      return sum_of(a, b);
    case BPF_SUB:
      return difference_of(a, b);
    case BPF_NEG:
      return difference_of(Scalar::constant(0), a);
    case BPF_MUL:
      return product_of(a, b);
    case BPF_DIV:
      return quotient_of(a, b);
    case BPF_MOD:
      return rest_of(a, b);
    case BPF_AND: {
      Scalar r = of_bits(both(a.bits, b.bits));
      r.most = std::min({r.most, a.most, b.most});
      return r.settle();
    }
    case BPF_OR: {
      Scalar r = of_bits(either(a.bits, b.bits));
      r.least = std::max({r.least, a.least, b.least});
      return r.settle();
    }
    case BPF_XOR:
      return of_bits(one_of(a.bits, b.bits));
    case BPF_MOV:
      return b;
    default:
      return shifted(operation, is_64, a, b);
  }
}

// The jump that is taken where the other one is not. BPF_JSET has none.
std::uint8_t opposite(std::uint8_t operation) {
  switch (operation) {
    case BPF_JEQ:
      return BPF_JNE;
    case BPF_JNE:
      return BPF_JEQ;
    case BPF_JGT:
      return BPF_JLE;
    case BPF_JLE:
      return BPF_JGT;
    case BPF_JGE:
      return BPF_JLT;
    case BPF_JLT:
      return BPF_JGE;
    case BPF_JSGT:
      return BPF_JSLE;
    case BPF_JSLE:
      return BPF_JSGT;
    case BPF_JSGE:
      return BPF_JSLT;
    default:
      return BPF_JSGE;
  }
}

Outcome when(bool always, bool never) {
  if (always) return Outcome::kAlways;
  return never ? Outcome::kNever : Outcome::kPerhaps;
}

bool are_apart(const Scalar& a, const Scalar& b) {
  return a.most < b.least || b.most < a.least || a.signed_most < b.signed_least || b.signed_most < a.signed_least ||
         ((a.bits.value ^ b.bits.value) & ~(a.bits.unknown | b.bits.unknown)) != 0;
}

Outcome compared_64(std::uint8_t operation, const Scalar& a, const Scalar& b) {
  const bool same = a.is_constant() && b.is_constant() && a.least == b.least;
  switch (operation) {
    case BPF_JEQ:
      return when(same, are_apart(a, b));
    case BPF_JNE:
      return when(are_apart(a, b), same);
    case BPF_JGT:
      return when(a.least > b.most, a.most <= b.least);
    case BPF_JGE:
      return when(a.least >= b.most, a.most < b.least);
    case BPF_JLT:
      return when(a.most < b.least, a.least >= b.most);
    case BPF_JLE:
      return when(a.most <= b.least, a.least > b.most);
    case BPF_JSGT:
      return when(a.signed_least > b.signed_most, a.signed_most <= b.signed_least);
    case BPF_JSGE:
      return when(a.signed_least >= b.signed_most, a.signed_most < b.signed_least);
    case BPF_JSLT:
      return when(a.signed_most < b.signed_least, a.signed_least >= b.signed_most);
    case BPF_JSLE:
      return when(a.signed_most <= b.signed_least, a.signed_least > b.signed_most);
    default:  // BPF_JSET
      return when((a.bits.value & b.bits.value) != 0,
                  ((a.bits.value | a.bits.unknown) & (b.bits.value | b.bits.unknown)) == 0);
  }
}

void make_equal(Scalar& a, Scalar& b) {
  Scalar r;
  r.is_contradiction_ = are_apart(a, b);
  const std::uint64_t known = ~a.bits.unknown | ~b.bits.unknown;
  r.bits = {(a.bits.value | b.bits.value) & known, ~known};
  r.least = std::max(a.least, b.least);
  r.most = std::min(a.most, b.most);
  r.signed_least = std::max(a.signed_least, b.signed_least);
  r.signed_most = std::min(a.signed_most, b.signed_most);
  if (!r.is_contradiction_) r.settle();
  a = b = r;
}

// That both cannot be equal says something only of bounds.
void make_different(Scalar& a, const Scalar& constant) {
  if (!constant.is_constant()) return;
  if (a.least == constant.least && a.least < a.most) ++a.least;
  if (a.most == constant.least && a.least < a.most) --a.most;
  if (a.signed_least == static_cast<std::int64_t>(constant.least) && a.signed_least < a.signed_most) ++a.signed_least;
  if (a.signed_most == static_cast<std::int64_t>(constant.least) && a.signed_least < a.signed_most) --a.signed_most;
}

// a < b, or a <= b with `or_equal`.
void make_less(Scalar& a, Scalar& b, bool or_equal) {
  const std::uint64_t gap = or_equal ? 0 : 1;
  a.is_contradiction_ |= b.most < gap || a.least > ~0ull - gap;
  if (a.is_contradiction_) return;
  a.most = std::min(a.most, b.most - gap);
  b.least = std::max(b.least, a.least + gap);
}

void make_less_signed(Scalar& a, Scalar& b, bool or_equal) {
  const std::int64_t gap = or_equal ? 0 : 1;
  a.is_contradiction_ |= b.signed_most < INT64_MIN + gap || a.signed_least > INT64_MAX - gap;
  if (a.is_contradiction_) return;
  a.signed_most = std::min(a.signed_most, b.signed_most - gap);
  b.signed_least = std::max(b.signed_least, a.signed_least + gap);
}

// The jump was taken.
void narrow_64(std::uint8_t operation, Scalar& a, Scalar& b) {
  switch (operation) {
    case BPF_JEQ:
      return make_equal(a, b);
    case BPF_JNE:
      make_different(a, b);
      return make_different(b, a);
    case BPF_JGT:
      return make_less(b, a, false);
    case BPF_JGE:
      return make_less(b, a, true);
    case BPF_JLT:
      return make_less(a, b, false);
    case BPF_JLE:
      return make_less(a, b, true);
    case BPF_JSGT:
      return make_less_signed(b, a, false);
    case BPF_JSGE:
      return make_less_signed(b, a, true);
    case BPF_JSLT:
      return make_less_signed(a, b, false);
    case BPF_JSLE:
      return make_less_signed(a, b, true);
    default:  // BPF_JSET: with one bit it is that one
      if (b.is_constant() && std::has_single_bit(b.least)) {
        a.bits.value |= b.least;
        a.bits.unknown &= ~b.least;
      }
  }
}

bool is_signed(std::uint8_t operation) {
  return operation == BPF_JSGT || operation == BPF_JSGE || operation == BPF_JSLT || operation == BPF_JSLE;
}

// As 64-bit numbers they compare alike.
bool compare_as_64(std::uint8_t operation, const Scalar& a, const Scalar& b) {
  const std::uint64_t limit = is_signed(operation) ? INT32_MAX : UINT32_MAX;
  return a.most <= limit && b.most <= limit;
}

// A constant of 32 bits as what it is compared as.
Scalar widened(std::uint8_t operation, const Scalar& a) {
  const auto number = static_cast<std::uint32_t>(a.least);
  if (!is_signed(operation)) return Scalar::constant(number);
  return Scalar::constant(static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(number)}));
}

}  // namespace

Bits Bits::between(std::uint64_t least, std::uint64_t most) {
  const auto width = static_cast<int>(std::bit_width(least ^ most));
  if (width == 64) return {};
  const std::uint64_t varying = (1ull << width) - 1;
  return {least & ~varying, varying};
}

Scalar Scalar::constant(std::uint64_t number) {
  const auto as_signed = static_cast<std::int64_t>(number);
  return {Bits::constant(number), number, number, as_signed, as_signed};
}

Scalar Scalar::of_size(std::uint32_t bytes) { return bytes >= 8 ? Scalar() : between(0, (1ull << 8 * bytes) - 1); }

Scalar Scalar::between(std::uint64_t least, std::uint64_t most) {
  Scalar r;
  r.least = least;
  r.most = most;
  return r.settle();
}

Scalar& Scalar::settle() {
  // Twice: bounds give bits, which may give other bounds.
  for (int i = 0; i < 2; ++i) {
    least = std::max(least, bits.value);
    most = std::min(most, bits.value | bits.unknown);
    signed_least = std::max(signed_least, static_cast<std::int64_t>(bits.value | (bits.unknown & kSign)));
    signed_most = std::min(signed_most, static_cast<std::int64_t>(bits.value | (bits.unknown & ~kSign)));
    // On one side of the sign both orders are one.
    if (static_cast<std::int64_t>(least) <= static_cast<std::int64_t>(most) && least <= most) {
      signed_least = std::max(signed_least, static_cast<std::int64_t>(least));
      signed_most = std::min(signed_most, static_cast<std::int64_t>(most));
    }
    if (static_cast<std::uint64_t>(signed_least) <= static_cast<std::uint64_t>(signed_most) &&
        signed_least <= signed_most) {
      least = std::max(least, static_cast<std::uint64_t>(signed_least));
      most = std::min(most, static_cast<std::uint64_t>(signed_most));
    }
    if (least > most || signed_least > signed_most) {
      is_contradiction_ = true;
      return *this;
    }
    const Bits range = Bits::between(least, most);
    if (((range.value ^ bits.value) & ~(range.unknown | bits.unknown)) != 0) {
      is_contradiction_ = true;
      return *this;
    }
    const std::uint64_t known = ~range.unknown | ~bits.unknown;
    bits = {(range.value | bits.value) & known, ~known};
  }
  return *this;
}

Scalar Scalar::truncated() const {
  if (fits_32()) return *this;
  Scalar r;
  r.bits = {bits.value & UINT32_MAX, bits.unknown & UINT32_MAX};
  r.least = 0;
  r.most = UINT32_MAX;
  if (least >> 32 == most >> 32) {
    r.least = least & UINT32_MAX;
    r.most = most & UINT32_MAX;
  }
  return r.settle();
}

std::string Scalar::text() const {
  if (is_constant()) return std::to_string(signed_least);
  std::string parts;
  const auto add = [&](const std::string& part) { parts += (parts.empty() ? "" : ",") + part; };
  if (least != 0) add(fmt::format("umin={}", least));
  if (most != ~0ull) add(fmt::format("umax={}", most));
  if (signed_least != INT64_MIN && signed_least != static_cast<std::int64_t>(least))
    add(fmt::format("smin={}", signed_least));
  if (signed_most != INT64_MAX && signed_most != static_cast<std::int64_t>(most))
    add(fmt::format("smax={}", signed_most));
  if (bits.unknown != ~0ull) add(fmt::format("var_off=({:#x}; {:#x})", bits.value, bits.unknown));
  return "scalar(" + parts + ")";
}

Scalar calculated(std::uint8_t operation, bool is_64, const Scalar& a, const Scalar& b) {
  if (is_64) return calculated_64(operation, true, a, b);
  return calculated_64(operation, false, a.truncated(), b.truncated()).truncated();
}

Outcome compared(std::uint8_t operation, bool is_64, const Scalar& a, const Scalar& b) {
  if (is_64) return compared_64(operation, a, b);
  const Scalar x = a.truncated();
  const Scalar y = b.truncated();
  if (x.is_constant() && y.is_constant()) return compared_64(operation, widened(operation, x), widened(operation, y));
  return compare_as_64(operation, x, y) ? compared_64(operation, x, y) : Outcome::kPerhaps;
}

namespace {

void narrow_as_64(std::uint8_t operation, bool taken, Scalar& a, Scalar& b) {
  if (operation != BPF_JSET) {
    narrow_64(taken ? operation : opposite(operation), a, b);
  } else if (taken) {
    narrow_64(operation, a, b);
  } else if (b.is_constant()) {
    // None of these bits.
    a.is_contradiction_ |= (a.bits.value & b.least) != 0;
    a.bits.unknown &= ~b.least;
  }
  if (!a.is_contradiction_) a.settle();
  if (!b.is_contradiction_) b.settle();
}

}  // namespace

void narrow(std::uint8_t operation, bool is_64, bool taken, Scalar& a, Scalar& b) {
  if (is_64) return narrow_as_64(operation, taken, a, b);
  Scalar x = a.truncated();
  Scalar y = b.truncated();
  if (!compare_as_64(operation, x, y)) return;
  narrow_as_64(operation, taken, x, y);
  const bool is_impossible = x.is_empty() || y.is_empty();
  // Of a number of more than 32 bits its lower ones say nothing.
  if (a.fits_32()) a = x;
  if (b.fits_32()) b = y;
  a.is_contradiction_ |= is_impossible;
}

}  // namespace landtrace::verifier
