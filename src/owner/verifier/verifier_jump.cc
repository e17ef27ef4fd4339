// What goes elsewhere: branches, and what is known behind them; subprograms.
#include <algorithm>
#include <cerrno>

#include "verifier/verifier.hpp"

namespace landtrace::verifier {
namespace {

bool is_equality(const Instruction& one) { return BPF_OP(one.code) == BPF_JEQ || BPF_OP(one.code) == BPF_JNE; }

}  // namespace

// All that are this pointer, whether it was copied or spilled.
void Verifier::learn_null(State& state, std::uint32_t id, bool is_null) {
  std::uint32_t released = 0;
  state.for_each_register([&](Register& reg) {
    if (!reg.may_be_null() || reg.id != id) return;
    if (is_null) {
      released = reg.reference;
      reg = Register::scalar(Scalar::constant(0));
    } else {
      reg.kind = reg.kind == Kind::kMapValueOrNull ? Kind::kMapValue : Kind::kRecord;
      reg.id = 0;
    }
  });
  // There is no record to be given back.
  std::erase_if(state.references, [&](const Reference& one) { return released != 0 && one.id == released; });
}

// The same of all copies of a number.
void Verifier::learn(State& state, const Register& before, const Scalar& now) {
  if (before.id == 0) return;
  state.for_each_register([&](Register& reg) {
    if (reg.is_scalar() && reg.id == before.id) reg.value = now;
  });
}

bool Verifier::branch(State& state, const Instruction& one) {
  const auto target = static_cast<std::uint32_t>(std::int64_t{state.pc} + 1 + one.off);
  if (BPF_OP(one.code) == BPF_JA) {
    state.pc = target;
    return true;
  }
  const Register left = readable(state, one.dst_reg);
  const bool has_register = BPF_SRC(one.code) == BPF_X;
  const Register right = has_register ? readable(state, one.src_reg) : constant_operand(one);
  const std::uint32_t next = state.pc + 1;

  if (left.is_pointer() || right.is_pointer()) {
    const bool with_null = right.is_zero() && left.is_pointer() && is_64(one) && is_equality(one);
    if (!with_null) refuse(EACCES, "R{} pointer comparison prohibited", unsigned{one.dst_reg});
    const bool jumps_if_null = BPF_OP(one.code) == BPF_JEQ;
    if (!left.may_be_null()) {
      state.pc = jumps_if_null ? next : target;
      return true;
    }
    State other = state;
    learn_null(other, left.id, jumps_if_null);
    other.pc = target;
    take_other_way(std::move(other));
    learn_null(state, left.id, !jumps_if_null);
    state.pc = next;
    return true;
  }

  switch (compared(BPF_OP(one.code), is_64(one), left.value, right.value)) {
    case Outcome::kAlways:
      state.pc = target;
      return true;
    case Outcome::kNever:
      state.pc = next;
      return true;
    case Outcome::kPerhaps:
      break;
  }
  const auto narrowed = [&](State& where, bool taken) {
    Scalar a = left.value;
    Scalar b = right.value;
    // A register against itself: nothing is learnt.
    if (!has_register || one.dst_reg != one.src_reg) narrow(BPF_OP(one.code), is_64(one), taken, a, b);
    if (a.is_empty() || b.is_empty()) return false;
    where.frame().registers[one.dst_reg].value = a;
    learn(where, left, a);
    if (!has_register) return true;
    where.frame().registers[one.src_reg].value = b;
    learn(where, right, b);
    return true;
  };
  State other = state;
  const bool can_jump = narrowed(other, true);
  other.pc = target;
  if (!narrowed(state, false)) {
    if (!can_jump) return false;
    state = std::move(other);
    return true;
  }
  state.pc = next;
  if (can_jump) take_other_way(std::move(other));
  return true;
}

void Verifier::call_subprogram(State& state, const Instruction& one) {
  if (state.frames.size() == kMaxFrames) refuse(E2BIG, "the call stack of {} frames is too deep", kMaxFrames + 1);
  Frame called;
  for (unsigned i = 1; i <= 5; ++i) called.registers[i] = state.frame().registers[i];
  called.registers[kFramePointer] = Register::pointer(Kind::kStack, static_cast<std::uint32_t>(state.frames.size()));
  called.return_to = state.pc + 1;
  for (unsigned i = 0; i <= 5; ++i) state.frame().registers[i] = {};
  state.frames.push_back(std::move(called));
  verdict_.frames = std::max(verdict_.frames, static_cast<std::uint32_t>(state.frames.size()));
  state.pc = static_cast<std::uint32_t>(std::int64_t{state.pc} + 1 + one.imm);
}

bool Verifier::leave(State& state) {
  // A subprogram need not return anything.
  const Register result = state.frame().registers[0];
  if (state.frames.size() == 1) {
    readable(state, 0);
    if (!result.is_scalar()) refuse(EACCES, "R0 leaks addr as return value: {}", result.text());
    if (!state.references.empty()) {
      const Reference& held = state.references.front();
      refuse(EINVAL, "Unreleased reference id={} alloc_insn={}", held.id, held.taken_at);
    }
    return false;
  }
  if (result.kind == Kind::kStack && result.which + 1 == state.frames.size())
    refuse(EINVAL, "cannot return stack pointer to the caller");
  const std::uint32_t next = state.frame().return_to;
  state.frames.pop_back();
  state.frame().registers[0] = result;
  state.pc = next;
  return true;
}

}  // namespace landtrace::verifier
