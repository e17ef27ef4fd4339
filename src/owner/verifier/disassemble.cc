#include "verifier/disassemble.hpp"

#include <fmt/format.h>

#include "verifier/helper_rules.hpp"

namespace landtrace::verifier {
namespace {

const char* sign_of(std::uint8_t code) {
  static constexpr const char* kSigns[] = {
      "+=", "-=", "*=", "/=", "|=", "&=", "<<=", ">>=", "", "%=", "^=", "=", "s>>="};
  const unsigned index = BPF_OP(code) >> 4;
  return index < 13 ? kSigns[index] : "?";
}

const char* comparison_of(std::uint8_t code) {
  static constexpr const char* kSigns[] = {"", "==", ">", ">=", "&", "!=", "s>", "s>=", "", "", "<", "<=", "s<", "s<="};
  const unsigned index = BPF_OP(code) >> 4;
  return index < 14 ? kSigns[index] : "?";
}

std::string type_of(std::uint8_t code) { return fmt::format("u{}", 8 * access_size(code)); }

std::string calculation(const Instruction& one) {
  const char letter = BPF_CLASS(one.code) == BPF_ALU64 ? 'r' : 'w';
  if (BPF_OP(one.code) == BPF_NEG) return fmt::format("{0}{1} = -{0}{1}", letter, unsigned{one.dst_reg});
  if (BPF_OP(one.code) == BPF_END) {
    return fmt::format("r{0} = {1}{2} r{0}", unsigned{one.dst_reg}, BPF_SRC(one.code) == BPF_TO_BE ? "be" : "le",
                       one.imm);
  }
  if (BPF_SRC(one.code) == BPF_X) {
    return fmt::format("{0}{1} {2} {0}{3}", letter, unsigned{one.dst_reg}, sign_of(one.code), unsigned{one.src_reg});
  }
  return fmt::format("{}{} {} {}", letter, unsigned{one.dst_reg}, sign_of(one.code), one.imm);
}

std::string jump(const Instruction& one) {
  if (one.code == kExit) return "exit";
  if (one.code == kCall && one.src_reg == BPF_PSEUDO_CALL) return fmt::format("call pc{:+}", one.imm);
  if (one.code == kCall) {
    const std::string name = helper_name(static_cast<std::uint32_t>(one.imm));
    return fmt::format("call {}#{}", name.empty() ? "unknown" : name, one.imm);
  }
  if (BPF_OP(one.code) == BPF_JA) return fmt::format("goto pc{:+}", std::int32_t{one.off});
  const char letter = BPF_CLASS(one.code) == BPF_JMP ? 'r' : 'w';
  const std::string operand = BPF_SRC(one.code) == BPF_X ? fmt::format("{}{}", letter, unsigned{one.src_reg})
                                                         : fmt::format("{:#x}", static_cast<std::uint32_t>(one.imm));
  return fmt::format("if {}{} {} {} goto pc{:+}", letter, unsigned{one.dst_reg}, comparison_of(one.code), operand,
                     std::int32_t{one.off});
}

std::string store(const Instruction& one) {
  const std::string place =
      fmt::format("*({} *)(r{} {:+})", type_of(one.code), unsigned{one.dst_reg}, std::int32_t{one.off});
  if (BPF_CLASS(one.code) == BPF_ST) return fmt::format("{} = {}", place, one.imm);
  if (BPF_MODE(one.code) == BPF_MEM) return fmt::format("{} = r{}", place, unsigned{one.src_reg});
  return fmt::format("atomic {:#x} {} r{}", static_cast<std::uint32_t>(one.imm), place, unsigned{one.src_reg});
}

}  // namespace

std::string helper_name(std::uint32_t number) {
  const HelperRule* const rule = find_helper_rule(number);
  return rule == nullptr ? "" : rule->name;
}

std::string disassemble(const Instruction* at) {
  switch (BPF_CLASS(at->code)) {
    case BPF_ALU:
    case BPF_ALU64:
      return calculation(*at);
    case BPF_JMP:
    case BPF_JMP32:
      return jump(*at);
    case BPF_ST:
    case BPF_STX:
      return store(*at);
    case BPF_LDX:
      return fmt::format("r{} = *({} *)(r{} {:+})", unsigned{at->dst_reg}, type_of(at->code), unsigned{at->src_reg},
                         std::int32_t{at->off});
    default:
      if (at->code != kLoadConstant) return fmt::format("(invalid {:#04x})", unsigned{at->code});
      if (at->src_reg == BPF_PSEUDO_MAP_FD) return fmt::format("r{} = map[{}]", unsigned{at->dst_reg}, at[0].imm);
      if (at->src_reg == BPF_PSEUDO_MAP_VALUE) {
        return fmt::format("r{} = map[{}][0]+{}", unsigned{at->dst_reg}, at[0].imm, at[1].imm);
      }
      return fmt::format("r{} = {:#x}", unsigned{at->dst_reg}, constant_of(at));
  }
}

}  // namespace landtrace::verifier
