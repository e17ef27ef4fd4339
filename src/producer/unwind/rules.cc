#include "unwind/rules.hpp"

namespace landtrace::unwind {
namespace {

constexpr unsigned kMaxRemembered = 4;
constexpr unsigned kMaxInstructions = 4096;

enum : std::uint8_t {
  kNop,
  kSetLoc,
  kAdvanceLoc1,
  kAdvanceLoc2,
  kAdvanceLoc4,
  kOffsetExtended,
  kRestoreExtended,
  kUndefined,
  kSameValue,
  kRegister,
  kRememberState,
  kRestoreState,
  kDefCfa,
  kDefCfaRegister,
  kDefCfaOffset,
  kDefCfaExpression,
  kExpression,
  kOffsetExtendedSf,
  kDefCfaSf,
  kDefCfaOffsetSf,
  kValOffset,
  kValOffsetSf,
  kValExpression,
  kArgsSize = 0x2e,
  kNegativeOffsetExtended = 0x2f,
  kAdvanceLoc = 0x40,  // the low six bits are its operand, as of the two below
  kOffset = 0x80,
  kRestore = 0xc0,
};

class Interpreter {
 public:
  Interpreter(const Fde& fde, std::uint64_t pc, Rules& rules) : fde_(fde), pc_(pc), at_(fde.begin), rules_(rules) {}

  bool run(Cursor code) {
    code_ = code;
    // Padding is nops. The row for pc is complete at the first advance beyond it.
    while (!code_.at_end() && at_ <= pc_) {
      if (++executed_ > kMaxInstructions || !execute(code_.take<std::uint8_t>())) return false;
    }
    return code_.ok();
  }
  void keep_initial() { initial_ = rules_; }

 private:
  bool execute(std::uint8_t instruction);
  bool execute_extended(std::uint8_t instruction);
  bool advance(std::uint64_t by) {
    const std::uint64_t to = at_ + by * fde_.code_factor;
    at_ = to < at_ ? ~0ull : to;
    return true;
  }
  [[nodiscard]] std::uint64_t factored(std::uint64_t offset) const {
    return offset * static_cast<std::uint64_t>(fde_.data_factor);
  }
  bool set(std::uint64_t number, RuleKind kind, std::uint64_t value = 0) {
    // Vector and flag registers carry nothing that the way up needs.
    if (number < kRegisters) rules_.registers[number] = {value, kind, 0};
    return true;
  }
  bool restore(std::uint64_t number) {
    if (number < kRegisters) rules_.registers[number] = initial_.registers[number];
    return true;
  }
  bool set_cfa(std::uint64_t number, std::uint64_t offset) {
    if (number >= kRegisters) return false;
    rules_.cfa = {offset, RuleKind::kRegisterPlusValue, static_cast<std::uint8_t>(number)};
    return true;
  }
  bool change_cfa(std::uint64_t offset) {
    rules_.cfa.value = offset;
    return rules_.cfa.kind == RuleKind::kRegisterPlusValue;
  }
  // The address of an expression, which begins with its length, and the cursor behind it.
  std::uint64_t expression() {
    const std::uint64_t address = code_.address();
    code_.skip(code_.uleb());
    return address;
  }
  bool remember() {
    if (remembered_ == kMaxRemembered) return false;
    stack_[remembered_++] = rules_;
    return true;
  }
  bool recall() {
    if (remembered_ == 0) return false;
    rules_ = stack_[--remembered_];
    return true;
  }

  const Fde& fde_;
  std::uint64_t pc_;
  std::uint64_t at_;
  Rules& rules_;
  Cursor code_;
  Rules initial_;
  Rules stack_[kMaxRemembered];
  unsigned remembered_ = 0;
  unsigned executed_ = 0;
};

bool Interpreter::execute(std::uint8_t instruction) {
  const std::uint8_t operand = instruction & 0x3f;
  switch (instruction & 0xc0) {
    case kAdvanceLoc:
      return advance(operand);
    case kOffset:
      return set(operand, RuleKind::kAtOffset, factored(code_.uleb()));
    case kRestore:
      return restore(operand);
    default:
      return execute_extended(instruction);
  }
}

// Operands are read in the order in which they stand.
bool Interpreter::execute_extended(std::uint8_t instruction) {
  switch (instruction) {
    case kNop:
      return true;
    case kSetLoc:
      at_ = code_.pointer(fde_.pointer_encoding);
      return true;
    case kAdvanceLoc1:
      return advance(code_.take<std::uint8_t>());
    case kAdvanceLoc2:
      return advance(code_.take<std::uint16_t>());
    case kAdvanceLoc4:
      return advance(code_.take<std::uint32_t>());
    case kRememberState:
      return remember();
    case kRestoreState:
      return recall();
    case kDefCfaOffset:
      return change_cfa(code_.uleb());
    case kDefCfaOffsetSf:
      return change_cfa(factored(static_cast<std::uint64_t>(code_.sleb())));
    case kDefCfaExpression:
      rules_.cfa = {expression(), RuleKind::kIsExpression, 0};
      return true;
    case kArgsSize:
      code_.uleb();
      return true;
    default:
      break;
  }
  const std::uint64_t number = code_.uleb();
  switch (instruction) {
    case kOffsetExtended:
      return set(number, RuleKind::kAtOffset, factored(code_.uleb()));
    case kOffsetExtendedSf:
      return set(number, RuleKind::kAtOffset, factored(static_cast<std::uint64_t>(code_.sleb())));
    case kNegativeOffsetExtended:
      return set(number, RuleKind::kAtOffset, 0 - factored(code_.uleb()));
    case kValOffset:
      return set(number, RuleKind::kIsOffset, factored(code_.uleb()));
    case kValOffsetSf:
      return set(number, RuleKind::kIsOffset, factored(static_cast<std::uint64_t>(code_.sleb())));
    case kRestoreExtended:
      return restore(number);
    case kUndefined:
      return set(number, RuleKind::kUndefined);
    case kSameValue:
      return set(number, RuleKind::kSame);
    case kRegister:
      return set(number, RuleKind::kRegister, code_.uleb());
    case kExpression:
      return set(number, RuleKind::kAtExpression, expression());
    case kValExpression:
      return set(number, RuleKind::kIsExpression, expression());
    case kDefCfa:
      return set_cfa(number, code_.uleb());
    case kDefCfaSf:
      return set_cfa(number, factored(static_cast<std::uint64_t>(code_.sleb())));
    case kDefCfaRegister:
      return rules_.cfa.kind == RuleKind::kRegisterPlusValue && set_cfa(number, rules_.cfa.value);
    default:
      return false;
  }
}

}  // namespace

bool find_rules(const Fde& fde, std::uint64_t pc, Rules& rules) {
  if (fde.return_column != kRip) return false;
  rules = {};
  rules.cfa.kind = RuleKind::kUndefined;
  Interpreter interpreter(fde, pc, rules);
  if (!interpreter.run(fde.initial)) return false;
  interpreter.keep_initial();
  return interpreter.run(fde.instructions);
}

}  // namespace landtrace::unwind
