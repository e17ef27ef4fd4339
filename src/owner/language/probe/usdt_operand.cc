#include "language/probe/usdt_operand.hpp"

#include <algorithm>
#include <array>

#include "language/probe/numbers.hpp"

namespace landtrace::language {
namespace {

using Kind = UsdtOperand::Kind;

constexpr std::size_t kMostArguments = 128;

// By the names that its parts have, from 8 bytes down to the lowest, and the second lowest.
struct RegisterNames {
  arch::Register reg;
  std::array<std::string_view, 4> parts;  // of 8, 4, 2, 1 bytes
  std::string_view high;
};
constexpr std::array<RegisterNames, 17> kOperandRegisters{{{arch::kRax, {"rax", "eax", "ax", "al"}, "ah"},
                                                {arch::kRbx, {"rbx", "ebx", "bx", "bl"}, "bh"},
                                                {arch::kRcx, {"rcx", "ecx", "cx", "cl"}, "ch"},
                                                {arch::kRdx, {"rdx", "edx", "dx", "dl"}, "dh"},
                                                {arch::kRsi, {"rsi", "esi", "si", "sil"}, ""},
                                                {arch::kRdi, {"rdi", "edi", "di", "dil"}, ""},
                                                {arch::kRbp, {"rbp", "ebp", "bp", "bpl"}, ""},
                                                {arch::kRsp, {"rsp", "esp", "sp", "spl"}, ""},
                                                {arch::kR8, {"r8", "r8d", "r8w", "r8b"}, ""},
                                                {arch::kR9, {"r9", "r9d", "r9w", "r9b"}, ""},
                                                {arch::kR10, {"r10", "r10d", "r10w", "r10b"}, ""},
                                                {arch::kR11, {"r11", "r11d", "r11w", "r11b"}, ""},
                                                {arch::kR12, {"r12", "r12d", "r12w", "r12b"}, ""},
                                                {arch::kR13, {"r13", "r13d", "r13w", "r13b"}, ""},
                                                {arch::kR14, {"r14", "r14d", "r14w", "r14b"}, ""},
                                                {arch::kR15, {"r15", "r15d", "r15w", "r15b"}, ""},
                                                {arch::kRip, {"rip", "eip", "ip", "-"}, ""}}};

struct RegisterPart {
  arch::Register reg;
  std::uint8_t size;
  bool is_high;
};

std::optional<RegisterPart> find_register(std::string_view name) {
  if (!name.starts_with('%')) return std::nullopt;
  name.remove_prefix(1);
  for (const RegisterNames& names : kOperandRegisters) {
    for (std::size_t i = 0; i < names.parts.size(); ++i) {
      if (names.parts[i] == name) return RegisterPart{names.reg, static_cast<std::uint8_t>(8 >> i), false};
    }
    if (!names.high.empty() && names.high == name) return RegisterPart{names.reg, 1, true};
  }
  return std::nullopt;
}

bool is_vector(std::string_view name) {
  constexpr std::array kBegin{"%xmm", "%ymm", "%zmm", "%st", "%mm"};
  return std::any_of(kBegin.begin(), kBegin.end(), [&](const char* begin) { return name.starts_with(begin); });
}

bool is_segment(std::string_view text) { return text.size() > 4 && text[0] == '%' && text[2] == 's' && text[3] == ':'; }

// A plain number of the assembler, signed or not.
std::optional<std::int64_t> number_of(std::string_view text) {
  if (const auto number = read_signed(text)) return *number;
  if (text.starts_with('-')) return std::nullopt;
  const auto number = read_unsigned(text);
  return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

// "SYMBOL", "SYMBOL+4", "4+SYMBOL", "-24", "": a distance, perhaps from a symbol.
bool set_displacement(UsdtOperand& operand, std::string_view text) {
  if (text.empty()) return true;
  if (const auto number = number_of(text)) {
    operand.number = *number;
    return true;
  }
  const auto sign = text.find_last_of("+-");
  if (sign == std::string_view::npos || sign == 0) {
    operand.symbol = text;
    return !text.starts_with('-');
  }
  const std::string_view front = text.substr(0, sign);
  const std::string_view back = text.substr(text[sign] == '+' ? sign + 1 : sign);
  if (const auto number = number_of(back)) {
    operand.number = *number;
    operand.symbol = front;
  } else if (const auto first = number_of(front); first && text[sign] == '+') {
    operand.number = *first;
    operand.symbol = back;
  } else {
    operand.symbol = text;  // a name may have a '-' in it
  }
  return true;
}

// "%rax,%rbx,8" of what stands in parentheses.
bool set_parts(UsdtOperand& operand, std::string_view inner) {
  std::array<std::string_view, 3> parts{};
  std::size_t count = 0;
  for (;;) {
    const auto comma = inner.find(',');
    if (count == parts.size()) return false;
    parts[count++] = inner.substr(0, comma);
    if (comma == std::string_view::npos) break;
    inner.remove_prefix(comma + 1);
  }
  const auto whole = [](std::string_view name) -> std::optional<arch::Register> {
    const auto found = find_register(name);
    return found && found->size == 8 ? std::optional(found->reg) : std::nullopt;
  };
  if (!parts[0].empty() && !(operand.base = whole(parts[0]))) return false;
  if (!parts[1].empty() && !(operand.index = whole(parts[1]))) return false;
  if (operand.index == arch::kRip || (operand.base == arch::kRip && operand.index)) return false;
  if (parts[2].empty()) return true;
  const auto scale = number_of(parts[2]);
  if (!scale || (*scale != 1 && *scale != 2 && *scale != 4 && *scale != 8)) return false;
  operand.scale = static_cast<std::uint8_t>(*scale);
  return true;
}

Kind kind_of_memory(UsdtOperand& operand, std::string_view text) {
  const auto open = text.find('(');
  if (open != std::string_view::npos) {
    if (!text.ends_with(')') || !set_parts(operand, text.substr(open + 1, text.size() - open - 2))) {
      return Kind::kUnknown;
    }
    text = text.substr(0, open);
  } else if (number_of(text)) {
    return Kind::kUnknown;  // an address alone is none of a program that is loaded anywhere
  }
  if (!set_displacement(operand, text)) return Kind::kUnknown;
  if (operand.base == arch::kRip) {
    operand.base.reset();
    // Without a symbol it is a distance from the next instruction, wherever that is.
    return operand.symbol.empty() ? Kind::kUnknown : Kind::kMemory;
  }
  return operand.symbol.empty() && !operand.base && !operand.index ? Kind::kUnknown : Kind::kMemory;
}

Kind kind_of(UsdtOperand& operand, std::string_view text, bool has_size) {
  if (is_vector(text)) return Kind::kVector;
  if (is_segment(text)) return Kind::kThreadLocal;
  if (text.starts_with('$')) {
    text.remove_prefix(1);
    if (text.empty() || !set_displacement(operand, text)) return Kind::kUnknown;
    return operand.symbol.empty() ? Kind::kNumber : Kind::kAddress;
  }
  if (!text.starts_with('%')) return text.empty() ? Kind::kUnknown : kind_of_memory(operand, text);
  const auto found = find_register(text);
  if (!found || found->reg == arch::kRip) return Kind::kUnknown;
  operand.base = found->reg;
  operand.is_high = found->is_high;
  if (!has_size) operand.size = found->size;
  return Kind::kRegister;
}

// "-4@", "8f@", and what is behind it. False: it is no size.
bool set_size(UsdtOperand& operand, std::string_view text) {
  operand.is_signed = text.starts_with('-');
  if (operand.is_signed) text.remove_prefix(1);
  if (text.ends_with('f')) {
    operand.is_float = true;
    text.remove_suffix(1);
  }
  const auto size = read_unsigned(text, 10);
  if (!size || (*size != 1 && *size != 2 && *size != 4 && *size != 8)) return false;
  operand.size = static_cast<std::uint8_t>(*size);
  return true;
}

UsdtOperand parse_usdt_operand(std::string_view text) {
  UsdtOperand operand;
  const auto at = text.find('@');
  // A symbol may have one, too: "8@data@GOTPCREL(%rip)".
  const bool has_size = at != std::string_view::npos && text.find_first_not_of("-0123456789f") == at;
  if (has_size && !set_size(operand, text.substr(0, at))) return operand;
  operand.kind = kind_of(operand, has_size ? text.substr(at + 1) : text, has_size);
  return operand;
}

}  // namespace

std::vector<UsdtOperand> parse_usdt_operands(std::string_view arguments) {
  std::vector<UsdtOperand> operands;
  while (operands.size() < kMostArguments) {
    arguments.remove_prefix(std::min(arguments.find_first_not_of(' '), arguments.size()));
    if (arguments.empty()) break;
    const std::string_view word = arguments.substr(0, arguments.find(' '));
    arguments.remove_prefix(word.size());
    operands.push_back(parse_usdt_operand(word));
  }
  return operands;
}

std::string_view usdt_type(const UsdtOperand& operand) {
  constexpr std::array<std::string_view, 4> kUnsigned{"u8", "u16", "u32", "u64"}, kSigned{"s8", "s16", "s32", "s64"},
      kBits{"x8", "x16", "x32", "x64"};
  const std::size_t index = operand.size == 1 ? 0 : operand.size == 2 ? 1 : operand.size == 4 ? 2 : 3;
  return operand.is_float ? kBits[index] : operand.is_signed ? kSigned[index] : kUnsigned[index];
}

std::string_view usdt_refusal(Kind kind) {
  switch (kind) {
    case Kind::kVector:
      return "This argument is in a vector register, which probes do not read";
    case Kind::kThreadLocal:
      return "This argument is a variable of each thread, which probes do not find";
    case Kind::kNoSymbol:
      return "This argument is at a symbol that the file does not have any more";
    case Kind::kUnknown:
      return "The file says where this argument is in a way that is not known";
    case Kind::kNumber:
    case Kind::kRegister:
    case Kind::kMemory:
    case Kind::kAddress:
      break;
  }
  return "";
}

}  // namespace landtrace::language
