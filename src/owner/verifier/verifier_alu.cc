// What calculates: numbers, and pointers within their bounds.
#include <cerrno>

#include "verifier/verifier.hpp"

namespace landtrace::verifier {
namespace {

// What may be added to a pointer: beyond, sums could overflow.
constexpr std::int64_t kMaxDistance = 1 << 29;

}  // namespace

void Verifier::move(State& state, const Instruction& one) {
  Register& to = state.frame().registers[one.dst_reg];
  if (BPF_SRC(one.code) == BPF_K) {
    to = constant_operand(one);
    return;
  }
  Register& from = readable(state, one.src_reg);
  if (is_64(one)) {
    // From here on what is learnt of the one holds for the other.
    if (from.is_scalar() && !from.value.is_constant() && from.id == 0) from.id = new_id();
    to = from;
    return;
  }
  if (from.is_pointer()) refuse(EACCES, "R{} partial copy of pointer", unsigned{one.src_reg});
  const bool is_whole = from.value.fits_32();
  if (is_whole && !from.value.is_constant() && from.id == 0) from.id = new_id();
  const std::uint32_t id = is_whole ? from.id : 0;
  const Scalar value = from.value.truncated();
  to = Register::scalar(value);
  to.id = id;
}

void Verifier::change_byte_order(State& state, const Instruction& one) {
  scalar(state, one.dst_reg, "byte order of a pointer");
  state.frame().registers[one.dst_reg] = Register::unknown(static_cast<std::uint32_t>(one.imm) / 8);
}

void Verifier::calculate(State& state, const Instruction& one) {
  const std::uint8_t operation = BPF_OP(one.code);
  if (operation == BPF_MOV) return move(state, one);
  if (operation == BPF_END) return change_byte_order(state, one);
  const Register to = readable(state, one.dst_reg);
  const bool has_register = BPF_SRC(one.code) == BPF_X && operation != BPF_NEG;
  const Register by = has_register ? readable(state, one.src_reg) : constant_operand(one);
  if (!has_register && (operation == BPF_DIV || operation == BPF_MOD) && one.imm == 0) refuse(EINVAL, "div by zero");
  const std::int32_t width = is_64(one) ? 64 : 32;
  const bool shifts = operation == BPF_LSH || operation == BPF_RSH || operation == BPF_ARSH;
  if (!has_register && shifts && (one.imm < 0 || one.imm >= width)) refuse(EINVAL, "invalid shift {}", one.imm);

  if (to.is_pointer() || by.is_pointer()) {
    const bool minus = operation == BPF_SUB;
    if (!is_64(one)) refuse(EACCES, "R{} 32-bit pointer arithmetic prohibited", unsigned{one.dst_reg});
    if (to.is_pointer() && by.is_pointer()) {
      refuse(EACCES, "R{} pointer {} pointer prohibited", unsigned{one.dst_reg}, minus ? "-=" : "op");
    }
    if (operation != BPF_ADD && !(minus && to.is_pointer())) {
      refuse(EACCES, "R{} pointer arithmetic with this operator prohibited", unsigned{one.dst_reg});
    }
    return to.is_pointer() ? move_pointer(state, one, to, by, minus) : move_pointer(state, one, by, to, false);
  }
  state.frame().registers[one.dst_reg] = Register::scalar(calculated(operation, is_64(one), to.value, by.value));
}

void Verifier::move_pointer(State& state, const Instruction& one, const Register& pointer, const Register& by,
                            bool minus) {
  const unsigned number = one.dst_reg;
  if (pointer.may_be_null()) {
    refuse(EACCES, "R{} pointer arithmetic on {} prohibited, null-check it first", number, pointer.text());
  }
  if (pointer.kind == Kind::kMap) refuse(EACCES, "R{} pointer arithmetic on map_ptr prohibited", number);
  const Scalar distance = minus ? calculated(BPF_NEG, true, by.value, by.value) : by.value;
  if (distance.signed_least < -kMaxDistance || distance.signed_most > kMaxDistance) {
    refuse(EACCES, "math between {} pointer and register with unbounded min value or max value is not allowed: {}",
           pointer.text(), by.value.text());
  }
  Register moved = pointer;
  if (distance.is_constant()) {
    const std::int64_t at = pointer.offset + distance.signed_least;
    if (at < -kMaxDistance || at > kMaxDistance) refuse(EACCES, "R{} pointer offset {} is out of bounds", number, at);
    moved.offset = static_cast<std::int32_t>(at);
  } else {
    if (pointer.kind == Kind::kStack)
      refuse(EACCES, "R{} variable stack access prohibited: {}", number, by.value.text());
    // Of a context: no access goes by it (check_context()), but helpers that read whatever address they are given may
    // have it.
    moved.value = calculated(BPF_ADD, true, pointer.value, distance);
    if (moved.value.signed_least < -kMaxDistance || moved.value.signed_most > kMaxDistance) {
      refuse(EACCES, "R{} pointer offset {} is out of bounds", number, moved.value.text());
    }
  }
  state.frame().registers[one.dst_reg] = moved;
}

void Verifier::load_constant(State& state, const Instruction& one) {
  Register& to = state.frame().registers[one.dst_reg];
  if (one.src_reg == BPF_PSEUDO_MAP_FD) {
    to = Register::pointer(Kind::kMap, static_cast<std::uint32_t>(one.imm));
  } else if (one.src_reg == BPF_PSEUDO_MAP_VALUE) {
    const auto number = static_cast<std::uint32_t>(one.imm);
    const auto offset = static_cast<std::uint32_t>((&one)[1].imm);
    if (maps_[number].kind != kArray)
      refuse(EINVAL, "direct value access to map {} is not supported: it is no ARRAY", number);
    if (offset >= maps_[number].value_size) refuse(EINVAL, "direct value offset of {} is not allowed", offset);
    to = Register::pointer(Kind::kMapValue, number);
    to.offset = static_cast<std::int32_t>(offset);
  } else {
    to = Register::scalar(Scalar::constant(constant_of(&one)));
  }
}

}  // namespace landtrace::verifier
