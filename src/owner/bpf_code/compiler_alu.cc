// What calculates.
#include <linux/bpf.h>

#include "bpf_code/compiler.hpp"

namespace landtrace::bpf_code {

using bpf::Instruction;

void Compiler::move(const Instruction& one, Width width) {
  const Reg to = value_of(one.dst_reg, Reg::kR10);
  if (BPF_SRC(one.code) == BPF_X) return out_.move(width, to, value_of(one.src_reg, Reg::kR11));
  const auto number = static_cast<std::uint64_t>(std::int64_t{one.imm});
  out_.move_constant(to, width == Width::k64 ? number : static_cast<std::uint32_t>(number));
}

void Compiler::change_byte_order(const Instruction& one) {
  const Reg what = value_of(one.dst_reg, Reg::kR10);
  const bool swaps = BPF_SRC(one.code) == BPF_TO_BE;
  if (one.imm == 16) {
    if (swaps) out_.swap_bytes_16(what);
    return out_.widen_16(what);
  }
  const Width width = one.imm == 64 ? Width::k64 : Width::k32;
  if (swaps) return out_.swap_bytes(width, what);
  if (width == Width::k32) out_.move(width, what, what);
}

// By a register only where that is rcx.
void Compiler::shift(const Instruction& one, Width width) {
  const unsigned operation = BPF_OP(one.code);
  const Shift how = operation == BPF_LSH ? Shift::kLeft : (operation == BPF_RSH ? Shift::kRight : Shift::kArithmetic);
  const Reg to = value_of(one.dst_reg, Reg::kR10);
  if (BPF_SRC(one.code) == BPF_K) {
    out_.shift(how, width, to, static_cast<std::uint8_t>(one.imm & (width == Width::k64 ? 63 : 31)));
  } else {
    const Reg by = value_of(one.src_reg, Reg::kR11);
    out_.move(Width::k64, Reg::kR10, Reg::kRcx);
    if (by != Reg::kRcx) out_.move(Width::k64, Reg::kRcx, by);
    out_.shift(how, width, to == Reg::kRcx ? Reg::kR10 : to);
    out_.move(Width::k64, Reg::kRcx, Reg::kR10);
  }
  if (width == Width::k32) out_.move(width, to, to);
}

// By rax and rdx, which may be what the program has there.
void Compiler::divide(const Instruction& one, Width width) {
  const bool wants_rest = BPF_OP(one.code) == BPF_MOD;
  const Reg to = value_of(one.dst_reg, Reg::kR10);
  if (BPF_SRC(one.code) == BPF_X) {
    out_.move(width, Reg::kR11, value_of(one.src_reg, Reg::kR11));
  } else {
    const auto number = static_cast<std::uint64_t>(std::int64_t{one.imm});
    out_.move_constant(Reg::kR11, width == Width::k64 ? number : static_cast<std::uint32_t>(number));
  }
  const Label by_zero = out_.new_label();
  const Label done = out_.new_label();
  out_.test(width, Reg::kR11, Reg::kR11);
  out_.jump_if(Condition::kEqual, by_zero);
  out_.move(Width::k64, Reg::kR10, Reg::kRax);
  out_.move(Width::k64, Reg::kRdi, Reg::kRdx);
  out_.move(width, Reg::kRax, to);
  out_.calculate(Op::kXor, Width::k32, Reg::kRdx, Reg::kRdx);
  out_.divide(width, Reg::kR11);
  out_.move(width, Reg::kR11, wants_rest ? Reg::kRdx : Reg::kRax);
  out_.move(Width::k64, Reg::kRdx, Reg::kRdi);
  out_.move(Width::k64, Reg::kRax, Reg::kR10);
  out_.move(width, to, Reg::kR11);
  out_.jump(done);
  out_.place(by_zero);
  if (!wants_rest) {
    out_.calculate(Op::kXor, Width::k32, to, to);
  } else if (width == Width::k32) {
    out_.move(width, to, to);
  }
  out_.place(done);
}

void Compiler::calculate(const Instruction& one) {
  const Width width = BPF_CLASS(one.code) == BPF_ALU64 ? Width::k64 : Width::k32;
  const auto simple = [&](Op op) {
    const Reg to = value_of(one.dst_reg, Reg::kR10);
    if (BPF_SRC(one.code) == BPF_K) return out_.calculate(op, width, to, one.imm);
    out_.calculate(op, width, to, value_of(one.src_reg, Reg::kR11));
  };
  switch (BPF_OP(one.code)) {
    case BPF_ADD:
      return simple(Op::kAdd);
    case BPF_SUB:
      return simple(Op::kSub);
    case BPF_OR:
      return simple(Op::kOr);
    case BPF_AND:
      return simple(Op::kAnd);
    case BPF_XOR:
      return simple(Op::kXor);
    case BPF_MOV:
      return move(one, width);
    case BPF_END:
      return change_byte_order(one);
    case BPF_NEG:
      return out_.negate(width, value_of(one.dst_reg, Reg::kR10));
    case BPF_DIV:
    case BPF_MOD:
      return divide(one, width);
    case BPF_MUL: {
      const Reg to = value_of(one.dst_reg, Reg::kR10);
      if (BPF_SRC(one.code) == BPF_K) return out_.multiply(width, to, one.imm);
      return out_.multiply(width, to, value_of(one.src_reg, Reg::kR11));
    }
    default:
      return shift(one, width);
  }
}

}  // namespace landtrace::bpf_code
