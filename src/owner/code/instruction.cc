#include "code/instruction.hpp"

#include <Zydis/Zydis.h>

namespace landtrace::code {
namespace {

const ZydisDecoder& decoder() {
  static const ZydisDecoder decoder = [] {
    ZydisDecoder made;
    ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return made;
  }();
  return decoder;
}

bool has(const ZydisDecodedInstruction& decoded, ZydisInstructionAttributes attribute) {
  return (decoded.attributes & attribute) != 0;
}

bool is_relative_memory(const ZydisDecodedInstruction& decoded) {
  return has(decoded, ZYDIS_ATTRIB_HAS_MODRM) && has(decoded, ZYDIS_ATTRIB_IS_RELATIVE) && decoded.raw.modrm.mod == 0 &&
         decoded.raw.modrm.rm == 5 && decoded.raw.disp.size == 32;
}

bool is_far(const ZydisDecodedInstruction& decoded) { return decoded.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR; }

Flow flow_by_mnemonic(const ZydisDecodedInstruction& decoded) {
  switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_JMP:
      if (decoded.raw.imm[0].is_relative) return Flow::kJump;
      return is_far(decoded) ? Flow::kUnmoved : Flow::kJumpIndirect;
    case ZYDIS_MNEMONIC_CALL:
      if (decoded.raw.imm[0].is_relative) return Flow::kCall;
      return is_far(decoded) ? Flow::kUnmoved : Flow::kCallIndirect;
    case ZYDIS_MNEMONIC_RET:
      return is_far(decoded) ? Flow::kUnmoved : Flow::kReturn;
    case ZYDIS_MNEMONIC_LOOP:
    case ZYDIS_MNEMONIC_LOOPE:
    case ZYDIS_MNEMONIC_LOOPNE:
    case ZYDIS_MNEMONIC_JRCXZ:
    case ZYDIS_MNEMONIC_JECXZ:
      return Flow::kCounter;
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
      return Flow::kTrap;
    case ZYDIS_MNEMONIC_XBEGIN:
    case ZYDIS_MNEMONIC_ENCLU:
    case ZYDIS_MNEMONIC_SYSENTER:
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
    case ZYDIS_MNEMONIC_UIRET:
      return Flow::kUnmoved;
    default:
      return Flow::kNext;
  }
}

Flow flow_of(const ZydisDecodedInstruction& decoded) {
  // With 67, a relative operand is cut to 32 bits: no program has that, and a copy elsewhere cannot.
  if (is_relative_memory(decoded) && has(decoded, ZYDIS_ATTRIB_HAS_ADDRESSSIZE)) return Flow::kUnmoved;
  if (has(decoded, ZYDIS_ATTRIB_IS_PRIVILEGED)) return Flow::kTrap;
  const Flow flow = flow_by_mnemonic(decoded);
  if (flow != Flow::kNext || !decoded.raw.imm[0].is_relative) return flow;
  const bool is_jcc = decoded.meta.category == ZYDIS_CATEGORY_COND_BR &&
                      (decoded.opcode_map == ZYDIS_OPCODE_MAP_0F ? decoded.opcode >> 4 == 8 : decoded.opcode >> 4 == 7);
  return is_jcc ? Flow::kCondition : Flow::kUnmoved;
}

// [rsp + distance], with nothing else.
bool is_stack_memory(const ZydisDecodedInstruction& decoded) {
  return has(decoded, ZYDIS_ATTRIB_HAS_SIB) && decoded.raw.modrm.mod != 3 && decoded.raw.sib.base == 4 &&
         decoded.raw.sib.index == 4 && decoded.raw.rex.B == 0 && decoded.raw.rex.X == 0;
}

bool names_stack_pointer(const ZydisDecodedInstruction& decoded) {
  if (!has(decoded, ZYDIS_ATTRIB_HAS_MODRM) || decoded.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY) return false;
  const auto& modrm = decoded.raw.modrm;
  const bool as_operand = modrm.mod == 3 && modrm.rm == 4 && decoded.raw.rex.B == 0;
  return as_operand || (modrm.reg == 4 && decoded.raw.rex.R == 0);
}

StackUse stack_use_of(const ZydisDecodedInstruction& decoded) {
  switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_PUSHFQ:
      return decoded.operand_width == 64 ? StackUse::kPush : StackUse::kOther;
    case ZYDIS_MNEMONIC_POP:
      return StackUse::kPop;
    case ZYDIS_MNEMONIC_LEAVE:
    case ZYDIS_MNEMONIC_ENTER:
      return StackUse::kOther;
    case ZYDIS_MNEMONIC_SUB:
      if (decoded.raw.modrm.mod == 3 && decoded.raw.modrm.rm == 4 && decoded.raw.rex.B == 0 &&
          (decoded.opcode == 0x81 || decoded.opcode == 0x83))
        return StackUse::kSubtract;
      break;
    case ZYDIS_MNEMONIC_MOV:
      if (decoded.opcode == 0x8b && decoded.operand_width == 64 && is_stack_memory(decoded)) return StackUse::kRead;
      break;
    default:
      break;
  }
  // Too much is taken for a change: whoever looks stops there.
  return names_stack_pointer(decoded) ? StackUse::kOther : StackUse::kNone;
}

void note_stack(const ZydisDecodedInstruction& decoded, Instruction& out) {
  out.stack = stack_use_of(decoded);
  if (out.stack == StackUse::kSubtract) out.stack_distance = decoded.raw.imm[0].value.s;
  if (out.stack == StackUse::kRead) out.stack_distance = decoded.raw.disp.value;
}

void note_immediate(const ZydisDecodedInstruction& decoded, Instruction& out) {
  if (decoded.raw.imm[0].size == 0 || decoded.raw.imm[0].is_relative) return;
  out.has_immediate = true;
  out.immediate = decoded.raw.imm[0].value.u;
  out.is_compare = decoded.mnemonic == ZYDIS_MNEMONIC_CMP;
}

void note_memory(const ZydisDecodedInstruction& decoded, Instruction& out) {
  out.is_memory = has(decoded, ZYDIS_ATTRIB_HAS_MODRM) && decoded.raw.modrm.mod != 3;
  if (!out.is_memory || !has(decoded, ZYDIS_ATTRIB_HAS_SIB)) return;
  out.is_indexed = decoded.raw.sib.index != 4 || decoded.raw.rex.X != 0;
  const bool has_base = decoded.raw.modrm.mod != 0 || decoded.raw.sib.base != 5;
  if (has_base || !out.is_indexed || decoded.raw.sib.scale != 3) return;
  out.has_table = true;
  out.table = static_cast<std::uint64_t>(decoded.raw.disp.value);
}

void note_distance(const ZydisDecodedInstruction& decoded, Instruction& out) {
  if (out.has_relative_memory) {
    out.distance_at = decoded.raw.disp.offset;
    out.distance = decoded.raw.disp.value;
  } else if (decoded.raw.imm[0].is_relative) {
    out.distance_at = decoded.raw.imm[0].offset;
    out.distance = decoded.raw.imm[0].value.s;
  }
}

}  // namespace

std::optional<Instruction> decode(Bytes bytes) {
  ZydisDecodedInstruction decoded;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder(), nullptr, bytes.data(), bytes.size(), &decoded)))
    return std::nullopt;
  Instruction out;
  out.length = decoded.length;
  out.flow = flow_of(decoded);
  out.is_nop = decoded.mnemonic == ZYDIS_MNEMONIC_NOP;
  out.has_relative_memory = is_relative_memory(decoded);
  out.is_relative_lea = out.has_relative_memory && decoded.mnemonic == ZYDIS_MNEMONIC_LEA;
  // 66 makes a branch one of 16 bits, on some processors. With REX.W it means nothing.
  out.is_prefixed = has(decoded, ZYDIS_ATTRIB_HAS_OPERANDSIZE) && decoded.raw.rex.W == 0;
  out.condition = out.flow == Flow::kCondition ? decoded.opcode & 15 : decoded.opcode;
  if (has(decoded, ZYDIS_ATTRIB_HAS_MODRM)) out.modrm_at = decoded.raw.modrm.offset;
  note_distance(decoded, out);
  note_stack(decoded, out);
  note_immediate(decoded, out);
  note_memory(decoded, out);
  return out;
}

}  // namespace landtrace::code
