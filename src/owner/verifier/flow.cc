#include "verifier/flow.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "verifier/disassemble.hpp"
#include "verifier/helper_rules.hpp"

namespace landtrace::verifier {
namespace {

bool is_jump(const Instruction& one) { return BPF_CLASS(one.code) == BPF_JMP || BPF_CLASS(one.code) == BPF_JMP32; }
bool is_goto(const Instruction& one) { return one.code == (BPF_JMP | BPF_JA); }
bool is_branch(const Instruction& one) {
  return is_jump(one) && !is_goto(one) && BPF_OP(one.code) != BPF_CALL && BPF_OP(one.code) != BPF_EXIT;
}
bool is_subprogram_call(const Instruction& one) { return one.code == kCall && one.src_reg == BPF_PSEUDO_CALL; }

std::int64_t target_of(std::uint32_t pc, const Instruction& one) {
  return std::int64_t{pc} + 1 + (is_subprogram_call(one) ? one.imm : one.off);
}

class FlowCheck {
 public:
  FlowCheck(std::span<const Instruction> code, std::uint32_t map_count) : code_(code), map_count_(map_count) {}

  std::optional<Complaint> run() {
    if (code_.empty() || code_.size() > kMaxInstructions) {
      return Complaint{0, fmt::format("a program has 1 to {} instructions", kMaxInstructions)};
    }
    middle_.resize(code_.size() + 1);
    for (std::uint32_t pc = 0; pc < code_.size(); pc += width(pc)) {
      if (auto wrong = check_form(pc)) return wrong;
      if (width(pc) == 2) middle_[pc + 1] = true;
    }
    if (auto wrong = find_subprograms()) return wrong;
    for (std::uint32_t pc = 0; pc < code_.size(); pc += width(pc)) {
      if (auto wrong = check_target(pc)) return wrong;
    }
    return check_reached();
  }

 private:
  [[nodiscard]] std::uint32_t width(std::uint32_t pc) const { return code_[pc].code == kLoadConstant ? 2 : 1; }

  static bool is_calculation(const Instruction& one) {
    const bool is_64 = BPF_CLASS(one.code) == BPF_ALU64;
    switch (BPF_OP(one.code)) {
      case BPF_NEG:
        return BPF_SRC(one.code) == BPF_K && one.src_reg == 0 && one.imm == 0 && one.off == 0;
      case BPF_END:
        return !is_64 && one.src_reg == 0 && one.off == 0 && (one.imm == 16 || one.imm == 32 || one.imm == 64);
      default:
        return BPF_OP(one.code) <= BPF_ARSH && one.off == 0 &&
               (BPF_SRC(one.code) == BPF_X ? one.imm == 0 : one.src_reg == 0);
    }
  }

  static bool is_sound_jump(const Instruction& one) {
    if (one.code == kCall) return one.off == 0 && one.dst_reg == 0 && (one.src_reg == 0 || is_subprogram_call(one));
    if (one.code == kExit) return one.off == 0 && one.dst_reg == 0 && one.src_reg == 0 && one.imm == 0;
    if (is_goto(one)) return one.dst_reg == 0 && one.src_reg == 0 && one.imm == 0;
    const std::uint8_t operation = BPF_OP(one.code);
    if (operation == BPF_JA || operation == BPF_CALL || operation == BPF_EXIT || operation > BPF_JSLE) return false;
    return BPF_SRC(one.code) == BPF_X ? one.imm == 0 : one.src_reg == 0;
  }

  static bool is_atomic(const Instruction& one) {
    if (BPF_SIZE(one.code) != BPF_W && BPF_SIZE(one.code) != BPF_DW) return false;
    switch (one.imm) {
      case BPF_ADD:
      case BPF_OR:
      case BPF_AND:
      case BPF_XOR:
      case BPF_ADD | BPF_FETCH:
      case BPF_OR | BPF_FETCH:
      case BPF_AND | BPF_FETCH:
      case BPF_XOR | BPF_FETCH:
      case BPF_XCHG:
      case BPF_CMPXCHG:
        return true;
      default:
        return false;
    }
  }

  [[nodiscard]] bool is_constant_load(std::uint32_t pc) const {
    const Instruction& one = code_[pc];
    if (one.code != kLoadConstant || one.off != 0 || pc + 1 == code_.size()) return false;
    const Instruction& second = code_[pc + 1];
    if (second.code != 0 || second.dst_reg != 0 || second.src_reg != 0 || second.off != 0) return false;
    if (one.src_reg == 0) return true;
    if (one.src_reg == BPF_PSEUDO_MAP_FD && second.imm != 0) return false;
    return (one.src_reg == BPF_PSEUDO_MAP_FD || one.src_reg == BPF_PSEUDO_MAP_VALUE) &&
           static_cast<std::uint32_t>(one.imm) < map_count_;
  }

  [[nodiscard]] bool is_sound(std::uint32_t pc) const {
    const Instruction& one = code_[pc];
    switch (BPF_CLASS(one.code)) {
      case BPF_ALU:
      case BPF_ALU64:
        return is_calculation(one);
      case BPF_JMP:
        return is_sound_jump(one);
      case BPF_JMP32:
        return is_branch(one) && is_sound_jump(one);
      case BPF_LDX:
        return BPF_MODE(one.code) == BPF_MEM && one.imm == 0;
      case BPF_ST:
        return BPF_MODE(one.code) == BPF_MEM && one.src_reg == 0;
      case BPF_STX:
        return (BPF_MODE(one.code) == BPF_MEM && one.imm == 0) || (BPF_MODE(one.code) == BPF_ATOMIC && is_atomic(one));
      default:
        return is_constant_load(pc);
    }
  }

  [[nodiscard]] std::optional<Complaint> check_form(std::uint32_t pc) const {
    const Instruction& one = code_[pc];
    if (one.dst_reg >= kRegisters || one.src_reg >= kRegisters) {
      return Complaint{pc, fmt::format("R{} is invalid", std::max(unsigned{one.dst_reg}, unsigned{one.src_reg}))};
    }
    if (!is_sound(pc)) {
      return Complaint{pc, fmt::format("unknown opcode {:02x}, or a part of the instruction that is reserved is used",
                                       unsigned{one.code})};
    }
    const bool writes = BPF_CLASS(one.code) == BPF_ALU || BPF_CLASS(one.code) == BPF_ALU64 ||
                        BPF_CLASS(one.code) == BPF_LDX || BPF_CLASS(one.code) == BPF_LD;
    if (writes && one.dst_reg == kFramePointer) return Complaint{pc, "frame pointer is read only"};
    return std::nullopt;
  }

  std::optional<Complaint> find_subprograms() {
    starts_ = {0};
    for (std::uint32_t pc = 0; pc < code_.size(); pc += width(pc)) {
      if (!is_subprogram_call(code_[pc])) continue;
      const std::int64_t target = target_of(pc, code_[pc]);
      if (target < 0 || target >= static_cast<std::int64_t>(code_.size()) ||
          middle_[static_cast<std::size_t>(target)]) {
        return Complaint{pc, "call to invalid destination"};
      }
      starts_.push_back(static_cast<std::uint32_t>(target));
    }
    std::sort(starts_.begin(), starts_.end());
    starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      const std::uint32_t end = i + 1 < starts_.size() ? starts_[i + 1] : static_cast<std::uint32_t>(code_.size());
      const Instruction& last = code_[end - 1];
      if (middle_[end - 1] || (last.code != kExit && !is_goto(last))) {
        return Complaint{end - 1, "last insn is not an exit or jmp"};
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Complaint> check_target(std::uint32_t pc) const {
    if (!is_branch(code_[pc]) && !is_goto(code_[pc])) return std::nullopt;
    const std::int64_t target = target_of(pc, code_[pc]);
    const auto begin = std::prev(std::upper_bound(starts_.begin(), starts_.end(), pc));
    const std::int64_t end =
        std::next(begin) == starts_.end() ? static_cast<std::int64_t>(code_.size()) : *std::next(begin);
    if (target < *begin || target >= end)
      return Complaint{pc, fmt::format("jump out of range from insn {} to {}", pc, target)};
    if (middle_[static_cast<std::size_t>(target)]) {
      return Complaint{pc, fmt::format("jump into the middle of ldimm64 insn {}", target)};
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Complaint> check_reached() const {
    std::vector<bool> reached(code_.size());
    std::vector<std::uint32_t> left = {0};
    while (!left.empty()) {
      const std::uint32_t pc = left.back();
      left.pop_back();
      if (reached[pc]) continue;
      reached[pc] = true;
      const Instruction& one = code_[pc];
      if (is_branch(one) || is_goto(one) || is_subprogram_call(one)) {
        left.push_back(static_cast<std::uint32_t>(target_of(pc, one)));
      }
      if (!is_goto(one) && one.code != kExit) left.push_back(pc + width(pc));
    }
    for (std::uint32_t pc = 0; pc < code_.size(); pc += width(pc)) {
      if (!reached[pc]) return Complaint{pc, fmt::format("unreachable insn {}", pc)};
    }
    return std::nullopt;
  }

  std::span<const Instruction> code_;
  std::uint32_t map_count_;
  std::vector<bool> middle_;
  std::vector<std::uint32_t> starts_;
};

constexpr std::uint16_t bit(unsigned reg) { return static_cast<std::uint16_t>(1u << reg); }

struct Effect {
  std::uint16_t reads = 0;
  std::uint16_t writes = 0;
};

Effect effect_of(const Instruction& one) {
  const std::uint16_t dst = bit(one.dst_reg);
  const std::uint16_t src = bit(one.src_reg);
  switch (BPF_CLASS(one.code)) {
    case BPF_ALU:
    case BPF_ALU64: {
      std::uint16_t reads = BPF_OP(one.code) == BPF_MOV ? 0 : dst;
      if (BPF_SRC(one.code) == BPF_X && BPF_OP(one.code) != BPF_END) reads |= src;
      return {reads, dst};
    }
    case BPF_JMP:
    case BPF_JMP32:
      if (one.code == kExit) return {bit(0), 0};
      if (one.code == kCall) return {0x3e, 0x3f};
      if (is_goto(one)) return {};
      return {static_cast<std::uint16_t>(BPF_SRC(one.code) == BPF_X ? dst | src : dst), 0};
    case BPF_LDX:
      return {src, dst};
    case BPF_ST:
      return {dst, 0};
    case BPF_STX:
      if (BPF_MODE(one.code) != BPF_ATOMIC) return {static_cast<std::uint16_t>(dst | src), 0};
      return {static_cast<std::uint16_t>(dst | src | bit(0)), 0};
    default:
      return {0, dst};
  }
}

}  // namespace

std::optional<Complaint> check_flow(std::span<const Instruction> code, std::uint32_t map_count) {
  return FlowCheck(code, map_count).run();
}

std::vector<bool> meeting_points(std::span<const Instruction> code) {
  std::vector<bool> points(code.size());
  for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
    const Instruction& one = code[pc];
    if (is_branch(one) || is_goto(one) || is_subprogram_call(one))
      points[static_cast<std::size_t>(target_of(pc, one))] = true;
    if (is_branch(one) || is_subprogram_call(one)) points[pc + 1] = true;
    if (one.code == kLoadConstant) ++pc;
  }
  return points;
}

LiveRegisters live_registers(std::span<const Instruction> code) {
  LiveRegisters live(code.size() + 1);
  // A subprogram's r6 to r9 are its own, and the caller's after it are looked at where it returns to.
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = code.size(); i-- > 0;) {
      const Instruction& one = code[i];
      const auto pc = static_cast<std::uint32_t>(i);
      std::uint16_t after = is_goto(one) || one.code == kExit
                                ? 0
                                : live[std::min<std::size_t>(pc + (one.code == kLoadConstant ? 2 : 1), code.size())];
      if (is_branch(one) || is_goto(one)) after |= live[static_cast<std::size_t>(target_of(pc, one))];
      const Effect effect = effect_of(one);
      const auto before = static_cast<std::uint16_t>((after & ~effect.writes) | effect.reads | bit(kFramePointer));
      changed |= before != live[i];
      live[i] = before;
    }
  }
  return live;
}

}  // namespace landtrace::verifier
