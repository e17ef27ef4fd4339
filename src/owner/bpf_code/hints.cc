#include "bpf_code/hints.hpp"

#include <linux/bpf.h>

#include <map>

namespace landtrace::bpf_code {
namespace {

using bpf::Instruction;
using Kind = Hint::Kind;

// A pointer that something unknown was added to.
Hint moved(const Hint& pointer) {
  switch (pointer.kind) {
    case Kind::kContext:
      return {Kind::kWindow, bpf::kContextWindow};
    case Kind::kFrame:
      return {Kind::kWindow, bpf::kStackWindow};
    case Kind::kWindow:
      return pointer;
    default:
      return {};
  }
}

}  // namespace

Hint Hints::constant(std::uint64_t value) const {
  if (value - bpf::kMapHandle < map_count_) return {Kind::kMap, static_cast<std::int32_t>(value - bpf::kMapHandle)};
  const std::uint64_t window = bpf::window_of(value);
  if (window < bpf::kFirstMapWindow + map_count_) return {Kind::kWindow, static_cast<std::int32_t>(window)};
  return {};
}

void Hints::calculate(State& state, const Instruction& one) const {
  Hint& to = state.registers[one.dst_reg];
  const bool is_64 = BPF_CLASS(one.code) == BPF_ALU64;
  const bool has_register = BPF_SRC(one.code) == BPF_X;
  const Hint by = has_register ? state.registers[one.src_reg] : Hint();
  const std::uint8_t operation = BPF_OP(one.code);
  if (is_64 && operation == BPF_MOV) {
    to = by;
  } else if (is_64 && (operation == BPF_ADD || operation == BPF_SUB)) {
    const bool is_fixed = to.kind == Kind::kContext || to.kind == Kind::kFrame;
    if (!has_register && is_fixed) {
      constexpr std::int64_t kFar = 1 << 20;
      const std::int64_t next =
          std::int64_t{to.number} + (operation == BPF_ADD ? std::int64_t{one.imm} : -std::int64_t{one.imm});
      to = next > -kFar && next < kFar ? Hint{to.kind, static_cast<std::int32_t>(next)} : Hint();
    } else if (to.kind == Kind::kNone) {
      to = moved(by);
    } else if (has_register) {
      to = moved(to);
    }
  } else {
    to = {};
  }
}

void Hints::follow(State& state, std::uint32_t pc) const {
  const Instruction& one = code_[pc];
  auto& registers = state.registers;
  switch (BPF_CLASS(one.code)) {
    case BPF_ALU:
    case BPF_ALU64:
      return calculate(state, one);
    case BPF_LD:
      registers[one.dst_reg] = constant(bpf::constant_of(&one));
      return;
    case BPF_LDX: {
      const Hint from = registers[one.src_reg];
      const bool is_whole = from.kind == Kind::kFrame && BPF_SIZE(one.code) == BPF_DW;
      const Hint* const kept = is_whole ? state.slot(from.number + one.off) : nullptr;
      registers[one.dst_reg] = kept == nullptr ? Hint() : *kept;
      return;
    }
    case BPF_STX: {
      const Hint to = registers[one.dst_reg];
      const bool is_whole = to.kind == Kind::kFrame && one.code == (BPF_STX | BPF_MEM | BPF_DW);
      if (Hint* const kept = is_whole ? state.slot(to.number + one.off) : nullptr) *kept = registers[one.src_reg];
      return;
    }
    default:
      break;
  }
  if (one.code != bpf::kCall) return;
  const Hint map = registers[1];
  for (unsigned i = 0; i <= 5; ++i) registers[i] = {};
  if (one.src_reg != 0) return;
  if (one.imm == BPF_FUNC_map_lookup_elem && map.kind == Kind::kMap)
    registers[0] = {Kind::kWindow, static_cast<std::int32_t>(bpf::kFirstMapWindow) + map.number};
  if (one.imm == BPF_FUNC_ringbuf_reserve) registers[0] = {Kind::kWindow, bpf::kFirstRecordWindow};
}

Hints::Hints(std::span<const Instruction> code, std::uint32_t map_count)
    : code_(code), map_count_(map_count), known_(code.size()) {
  // What is known where a jump forward leads.
  std::map<std::uint32_t, State> ahead;
  State state;
  state.registers[1] = {Kind::kContext, 0};
  state.registers[bpf::kFramePointer] = {Kind::kFrame, 0};
  bool comes_from_above = true;
  for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
    if (const auto found = ahead.find(pc); found != ahead.end()) {
      if (!comes_from_above) state = found->second;
      ahead.erase(found);
    } else if (!comes_from_above) {
      // A subprogram, or what a loop jumps back to.
      state = {};
      state.registers[bpf::kFramePointer] = {Kind::kFrame, 0};
    }
    known_[pc] = state.registers;
    const Instruction& one = code[pc];
    follow(state, pc);
    const bool is_jump = BPF_CLASS(one.code) == BPF_JMP || BPF_CLASS(one.code) == BPF_JMP32;
    const bool jumps = is_jump && one.code != bpf::kCall && one.code != bpf::kExit;
    const std::int64_t target = std::int64_t{pc} + 1 + one.off;
    constexpr std::size_t kMaxAhead = 256;
    if (jumps && target > pc && target < static_cast<std::int64_t>(code.size()) && ahead.size() < kMaxAhead)
      ahead.emplace(static_cast<std::uint32_t>(target), state);
    comes_from_above = one.code != bpf::kExit && one.code != (BPF_JMP | BPF_JA);
    if (one.code == bpf::kLoadConstant) ++pc;
  }
}

}  // namespace landtrace::bpf_code
