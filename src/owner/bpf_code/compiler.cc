#include "bpf_code/compiler.hpp"

#include <linux/bpf.h>

#include <algorithm>

#include "bpf_code/compile.hpp"

namespace landtrace::bpf_code {
namespace {

using bpf::Instruction;

bool is_jump(const Instruction& one) {
  const bool is_kind = BPF_CLASS(one.code) == BPF_JMP || BPF_CLASS(one.code) == BPF_JMP32;
  return is_kind && one.code != bpf::kCall && one.code != bpf::kExit;
}
bool is_subprogram_call(const Instruction& one) { return one.code == bpf::kCall && one.src_reg == BPF_PSEUDO_CALL; }
std::int64_t target_of(std::uint32_t pc, const Instruction& one) {
  return std::int64_t{pc} + 1 + (is_subprogram_call(one) ? one.imm : one.off);
}

bool changes_its_target(const Instruction& one) {
  const unsigned kind = BPF_CLASS(one.code);
  return kind == BPF_ALU || kind == BPF_ALU64 || kind == BPF_LD || kind == BPF_LDX;
}

bool is_known_atomic(const Instruction& one) {
  if (BPF_SIZE(one.code) != BPF_W && BPF_SIZE(one.code) != BPF_DW) return false;
  if ((one.imm & BPF_FETCH) != 0 && one.imm != BPF_CMPXCHG && one.src_reg == bpf::kFramePointer) return false;
  switch (one.imm & ~BPF_FETCH) {
    case BPF_ADD:
    case BPF_OR:
    case BPF_AND:
    case BPF_XOR:
      return true;
    default:
      return one.imm == BPF_XCHG || one.imm == BPF_CMPXCHG;
  }
}

bool is_known_call(const Instruction& one) {
  if (is_subprogram_call(one)) return true;
  // Stacks are taken by who runs the interpreter: that is functions all the way.
  return one.src_reg == 0 && one.imm != BPF_FUNC_get_stackid && one.imm != BPF_FUNC_get_stack &&
         bpf::find_helper(static_cast<std::uint32_t>(one.imm)) != nullptr;
}

bool is_known_jump(const Instruction& one) {
  if (one.code == bpf::kCall) return is_known_call(one);
  if (one.code == bpf::kExit) return true;
  const unsigned operation = BPF_OP(one.code);
  if (operation == BPF_JA) return one.code == (BPF_JMP | BPF_JA);
  return operation != BPF_CALL && operation != BPF_EXIT && operation <= BPF_JSLE;
}

bool is_known(const Instruction& one) {
  switch (BPF_CLASS(one.code)) {
    case BPF_ALU:
    case BPF_ALU64:
      if (BPF_OP(one.code) == BPF_END)
        return BPF_CLASS(one.code) == BPF_ALU && (one.imm == 16 || one.imm == 32 || one.imm == 64);
      return BPF_OP(one.code) <= BPF_ARSH;
    case BPF_LD:
      return one.code == bpf::kLoadConstant;
    case BPF_STX:
      return BPF_MODE(one.code) == BPF_MEM || (BPF_MODE(one.code) == BPF_ATOMIC && is_known_atomic(one));
    case BPF_LDX:
    case BPF_ST:
      return BPF_MODE(one.code) == BPF_MEM;
    default:
      return is_known_jump(one);
  }
}

// What the compiler takes for granted. Jumps lead to instructions, and nothing changes the frame pointer.
bool is_well_formed(std::span<const Instruction> code) {
  if (code.empty() || code.size() > bpf::kMaxInstructions) return false;
  std::vector<bool> begins(code.size());
  for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
    const Instruction& one = code[pc];
    begins[pc] = true;
    if (one.dst_reg >= bpf::kRegisters || one.src_reg >= bpf::kRegisters || !is_known(one)) return false;
    if (changes_its_target(one) && one.dst_reg == bpf::kFramePointer) return false;
    if (one.code == bpf::kLoadConstant && ++pc == code.size()) return false;
  }
  for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
    const Instruction& one = code[pc];
    if (is_jump(one) || is_subprogram_call(one)) {
      const std::int64_t target = target_of(pc, one);
      if (target < 0 || target >= static_cast<std::int64_t>(code.size()) || !begins[static_cast<std::size_t>(target)])
        return false;
    }
    if (one.code == bpf::kLoadConstant) ++pc;
  }
  return true;
}

}  // namespace

bool can_compile() {
#if defined(__x86_64__)
  return true;
#else
  return false;
#endif
}

std::vector<std::byte> compile(const Source& source) {
  if (!can_compile() || source.maps.size() > bpf::kMaxMaps || !is_well_formed(source.code)) return {};
  if (source.frames == 0 || source.frames > bpf::kMaxFrames) return {};
  return Compiler(source).run();
}

// Where straight pieces begin; and whether instructions must be counted: a program that never goes back ends.
void Compiler::look_around() {
  is_begin_.resize(code_.size() + 1);
  is_begin_[0] = true;
  for (std::uint32_t pc = 0; pc < code_.size(); ++pc) {
    const Instruction& one = code_[pc];
    used_ |= 1u << one.dst_reg;
    if (one.code == bpf::kCall) {
      used_ |= 0b11'1111;
      has_records_ |= one.src_reg == 0 && one.imm == BPF_FUNC_ringbuf_reserve;
    } else {
      used_ |= 1u << one.src_reg;
    }
    if (is_jump(one) || is_subprogram_call(one)) {
      const std::int64_t target = target_of(pc, one);
      is_begin_[static_cast<std::size_t>(target)] = true;
      counts_ |= target <= std::int64_t{pc} || is_subprogram_call(one);
      has_subprograms_ |= is_subprogram_call(one);
    }
    if (is_jump(one) || one.code == bpf::kExit || is_subprogram_call(one)) is_begin_[pc + 1] = true;
    if (one.code == bpf::kLoadConstant) ++pc;
  }
}

std::vector<std::byte> Compiler::run() {
  look_around();
  for (std::size_t i = 0; i <= code_.size(); ++i) at_.push_back(out_.new_label());
  for (Label* const label : {&fault_, &exceeded_, &stop_, &leave_, &read_window_, &write_window_})
    *label = out_.new_label();
  begin();
  for (std::uint32_t pc = 0; pc < code_.size(); ++pc) {
    out_.place(at_[pc]);
    if (counts_ && is_begin_[pc]) count(pc);
    translate(pc);
    if (code_[pc].code == bpf::kLoadConstant) out_.place(at_[++pc]);
  }
  out_.place(at_[code_.size()]);
  end();
  return out_.finish();
}

void Compiler::translate(std::uint32_t pc) {
  const Instruction& one = code_[pc];
  switch (BPF_CLASS(one.code)) {
    case BPF_ALU:
    case BPF_ALU64:
      return calculate(one);
    case BPF_LD:
      return out_.move_constant(value_of(one.dst_reg, Reg::kR10), bpf::constant_of(&one));
    case BPF_LDX:
      return load(pc);
    case BPF_ST:
      return store(pc);
    case BPF_STX:
      return BPF_MODE(one.code) == BPF_ATOMIC ? change(pc) : store(pc);
    default:
      if (one.code == bpf::kExit) return return_from();
      if (one.code != bpf::kCall) return jump(pc);
      if (is_subprogram_call(one)) return call_subprogram(pc);
      if (one.imm != BPF_FUNC_map_lookup_elem || !look_up(pc)) call_helper(one);
  }
}

Reg Compiler::value_of(unsigned reg, Reg scratch) {
  constexpr Reg kPlaces[] = {Reg::kRax, Reg::kRsi, Reg::kRdx, Reg::kRcx, Reg::kR8,
                             Reg::kR9,  Reg::kR12, Reg::kR13, Reg::kR14, Reg::kR15};
  if (reg != bpf::kFramePointer) return kPlaces[reg];
  load_frame_address(scratch);
  return scratch;
}

// A program that calls subprograms keeps r6 to r9 around the calls.
std::vector<Reg> Compiler::kept() const {
  std::vector<Reg> kept = {Reg::kRbx};
  constexpr Reg kPlaces[] = {Reg::kR12, Reg::kR13, Reg::kR14, Reg::kR15};
  for (unsigned i = 0; i < 4; ++i) {
    if (has_subprograms_ || uses(6 + i)) kept.push_back(kPlaces[i]);
  }
  return kept;
}

// All that the program does not have is 0: it must not find what lies in the CPU's registers.
void Compiler::begin() {
  out_.push(Reg::kRbp);
  out_.move(Width::k64, Reg::kRbp, Reg::kRsp);
  for (const Reg reg : kept()) out_.push(reg);
  out_.move(Width::k64, kMachine, Reg::kRdi);
  out_.move_constant(Reg::kRsi, context());
  for (unsigned reg = 0; reg < bpf::kFramePointer; ++reg) {
    const Reg place = value_of(reg, Reg::kR10);
    if (reg != 1 && (has_subprograms_ || uses(reg))) out_.calculate(Op::kXor, Width::k32, place, place);
  }
  // None is held.
  for (std::uint32_t i = 0; has_records_ && i < bpf::kMaxHeldRecords; ++i)
    out_.store_constant(8, in_machine::window(bpf::kFirstRecordWindow + i, offsetof(bpf::Window, size)), 0);
  // Helpers are called with a stack that is aligned to 16 bytes; a subprogram is called in between.
  if (!has_subprograms_) {
    if (pads_stack()) out_.calculate(Op::kSub, Width::k64, Reg::kRsp, 8);
    return;
  }
  out_.address_of(Reg::kR10, {kMachine, -static_cast<std::int32_t>((frames_ - 1) * bpf::kFrameSize)});
  out_.store(8, in_machine::kFrameEnd, Reg::kR10);
  out_.move_constant(Reg::kR10, bpf::window_address(bpf::kStackWindow, bpf::kFrameSize));
  out_.store(8, in_machine::kFrameAddress, Reg::kR10);
  const Label body = out_.new_label();
  out_.call(body);
  out_.jump(leave_);
  out_.place(body);
}

void Compiler::return_from() { has_subprograms_ ? out_.leave() : out_.jump(leave_); }

void Compiler::count(std::uint32_t pc) {
  std::int32_t instructions = 1;
  for (std::uint32_t i = pc + (code_[pc].code == bpf::kLoadConstant ? 2 : 1); i < code_.size() && !is_begin_[i];
       i += code_[i].code == bpf::kLoadConstant ? 2 : 1) {
    ++instructions;
  }
  out_.calculate(Op::kSub, Width::k64, in_machine::kBudget, instructions);
  out_.jump_if(Condition::kBelow, exceeded_);
}

void Compiler::stop_with(Label label, bpf::End why) {
  out_.place(label);
  out_.store_constant(4, in_machine::kEnd, static_cast<std::int32_t>(why));
}

void Compiler::end() {
  // The program has run over its end.
  stop_with(fault_, bpf::End::kFault);
  out_.place(stop_);
  out_.calculate(Op::kXor, Width::k32, Reg::kRax, Reg::kRax);
  return_from();
  stop_with(exceeded_, bpf::End::kExceeded);
  out_.jump(stop_);
  out_.place(leave_);
  if (!has_subprograms_ && pads_stack()) out_.calculate(Op::kAdd, Width::k64, Reg::kRsp, 8);
  const std::vector<Reg> saved = kept();
  for (auto reg = saved.rbegin(); reg != saved.rend(); ++reg) out_.pop(*reg);
  out_.pop(Reg::kRbp);
  out_.leave();
  for (const Detour& detour : detours_) {
    out_.place(detour.from);
    find_window(detour.reg, detour.offset, detour.size, detour.access);
    if (detour.less != 0) out_.address_of(Reg::kR10, {Reg::kR10, -detour.less});
    out_.jump(detour.back);
  }
  for (const LookUp& one : look_ups_) end_look_up(one);
  write_window_search(read_window_, bpf::kFindReadable);
  write_window_search(write_window_, bpf::kFindWritable);
}

}  // namespace landtrace::bpf_code
