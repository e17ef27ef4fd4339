// What jumps and calls.
#include <linux/bpf.h>

#include "bpf_code/compiler.hpp"

namespace landtrace::bpf_code {
namespace {

Condition condition_of(unsigned operation) {
  switch (operation) {
    case BPF_JEQ:
      return Condition::kEqual;
    case BPF_JGT:
      return Condition::kAbove;
    case BPF_JGE:
      return Condition::kNotBelow;
    case BPF_JLT:
      return Condition::kBelow;
    case BPF_JLE:
      return Condition::kNotAbove;
    case BPF_JSGT:
      return Condition::kGreater;
    case BPF_JSGE:
      return Condition::kNotLess;
    case BPF_JSLT:
      return Condition::kLess;
    case BPF_JSLE:
      return Condition::kNotGreater;
    default:  // BPF_JNE; BPF_JSET, behind a test
      return Condition::kNotEqual;
  }
}

}  // namespace

void Compiler::jump(std::uint32_t pc) {
  const bpf::Instruction& one = code_[pc];
  const Label target = at_[static_cast<std::size_t>(std::int64_t{pc} + 1 + one.off)];
  const unsigned operation = BPF_OP(one.code);
  if (operation == BPF_JA) return out_.jump(target);
  const Width width = BPF_CLASS(one.code) == BPF_JMP ? Width::k64 : Width::k32;
  const Reg a = value_of(one.dst_reg, Reg::kR10);
  const bool tests = operation == BPF_JSET;
  if (BPF_SRC(one.code) == BPF_K) {
    tests ? out_.test(width, a, one.imm) : out_.calculate(Op::kCmp, width, a, one.imm);
  } else {
    const Reg b = value_of(one.src_reg, Reg::kR11);
    tests ? out_.test(width, a, b) : out_.calculate(Op::kCmp, width, a, b);
  }
  out_.jump_if(condition_of(operation), target);
}

// As behind any function r1 to r5 are gone: what the helper has left there is nothing for the program.
void Compiler::call_helper(const bpf::Instruction& one) {
  out_.move(Width::k64, Reg::kRdi, kMachine);
  out_.load(8, Reg::kR10, in_machine::kHelpers);
  out_.call({Reg::kR10, one.imm * static_cast<std::int32_t>(sizeof(bpf::Helper))});
  out_.calculate(Op::kCmp, Width::k32, in_machine::kEnd, 0);
  out_.jump_if(Condition::kNotEqual, stop_);
  forget_arguments();
}

void Compiler::forget_arguments() {
  for (unsigned reg = 1; reg <= 5; ++reg) {
    const Reg place = value_of(reg, Reg::kR10);
    out_.calculate(Op::kXor, Width::k32, place, place);
  }
}

void Compiler::call_subprogram(std::uint32_t pc) {
  constexpr std::int32_t kBytes = bpf::kFrameSize;
  const Label target = at_[static_cast<std::size_t>(std::int64_t{pc} + 1 + code_[pc].imm)];
  out_.load(8, Reg::kR10, in_machine::kFrameEnd);
  out_.calculate(Op::kAdd, Width::k64, Reg::kR10, kBytes);
  // Where the stack ends.
  out_.calculate(Op::kCmp, Width::k64, Reg::kR10, kMachine);
  out_.jump_if(Condition::kAbove, fault_);
  out_.store(8, in_machine::kFrameEnd, Reg::kR10);
  out_.calculate(Op::kAdd, Width::k64, in_machine::kFrameAddress, kBytes);
  for (const Reg kept : {Reg::kR12, Reg::kR13, Reg::kR14, Reg::kR15}) out_.push(kept);
  out_.calculate(Op::kSub, Width::k64, Reg::kRsp, 8);
  out_.call(target);
  out_.calculate(Op::kAdd, Width::k64, Reg::kRsp, 8);
  for (const Reg kept : {Reg::kR15, Reg::kR14, Reg::kR13, Reg::kR12}) out_.pop(kept);
  out_.calculate(Op::kSub, Width::k64, in_machine::kFrameEnd, kBytes);
  out_.calculate(Op::kSub, Width::k64, in_machine::kFrameAddress, kBytes);
  out_.calculate(Op::kCmp, Width::k32, in_machine::kEnd, 0);
  out_.jump_if(Condition::kNotEqual, stop_);
}

}  // namespace landtrace::bpf_code
