#include "unwind/step.hpp"

#include "unwind/expression.hpp"

namespace landtrace::unwind {
namespace {

constexpr std::uint64_t kWord = 8;

class Caller {
 public:
  Caller(const Tables& tables, const Registers& callee, WordReader read)
      : tables_(tables), callee_(callee), read_(read) {}

  bool find_cfa(const Rule& rule) {
    if (rule.kind == RuleKind::kIsExpression) return evaluate_at(rule.value, nullptr, cfa_);
    if (rule.kind != RuleKind::kRegisterPlusValue || !callee_.has(rule.base)) return false;
    cfa_ = callee_.value[rule.base] + rule.value;
    return true;
  }
  [[nodiscard]] std::uint64_t cfa() const { return cfa_; }

  // The register as it was in the caller. False where that is not known.
  bool find(unsigned number, const Rule& rule, std::uint64_t& value) const {
    switch (rule.kind) {
      case RuleKind::kSame:
        value = callee_.value[number];
        return callee_.has(number);
      case RuleKind::kAtOffset:
        return read_(cfa_ + rule.value, value);
      case RuleKind::kIsOffset:
        value = cfa_ + rule.value;
        return true;
      case RuleKind::kRegister:
        value = rule.value < kRegisters ? callee_.value[rule.value] : 0;
        return callee_.has(rule.value);
      case RuleKind::kAtExpression: {
        std::uint64_t address = 0;
        return evaluate_at(rule.value, &cfa_, address) && read_(address, value);
      }
      case RuleKind::kIsExpression:
        return evaluate_at(rule.value, &cfa_, value);
      case RuleKind::kUndefined:
      case RuleKind::kRegisterPlusValue:
        break;
    }
    return false;
  }

 private:
  bool evaluate_at(std::uint64_t address, const std::uint64_t* initial, std::uint64_t& result) const {
    Cursor code(tables_, address);
    code.limit(code.uleb());
    return code.ok() && evaluate(code, callee_, initial, read_, result);
  }

  const Tables& tables_;
  const Registers& callee_;
  WordReader read_;
  std::uint64_t cfa_ = 0;
};

}  // namespace

Step step_by_rules(const Tables& tables, const Rules& rules, bool is_signal_frame, WordReader read,
                   Registers& registers) {
  if (rules.registers[kRip].kind == RuleKind::kUndefined) return Step::kEnd;
  Caller caller(tables, registers, read);
  if (!caller.find_cfa(rules.cfa)) return Step::kBroken;
  // A call pushes at least its return address; only a signal changes stacks.
  if (!is_signal_frame && caller.cfa() <= registers.sp()) return Step::kBroken;
  Registers next;
  for (unsigned i = 0; i < kRegisters; ++i) {
    const Rule& rule = rules.registers[i];
    std::uint64_t value = 0;
    if (i == kRsp && rule.kind == RuleKind::kSame) {
      next.set(i, caller.cfa());
    } else if (caller.find(i, rule, value)) {
      next.set(i, value);
    }
  }
  if (!next.has(kRip) || !next.has(kRsp) || rules.registers[kRip].kind == RuleKind::kSame) return Step::kBroken;
  registers = next;
  if (registers.pc() == 0) return Step::kEnd;
  return is_signal_frame ? Step::kSignalFrame : Step::kCaller;
}

Step step_by_frame_pointer(WordReader read, Registers& registers) {
  const std::uint64_t frame = registers.value[kRbp];
  if (!registers.has(kRbp) || frame % kWord != 0 || frame < registers.sp()) return Step::kBroken;
  std::uint64_t above = 0;
  std::uint64_t pc = 0;
  if (!read(frame, above) || !read(frame + kWord, pc)) return Step::kBroken;
  registers = {};
  registers.set(kRbp, above);
  registers.set(kRsp, frame + 2 * kWord);
  registers.set(kRip, pc);
  return pc == 0 ? Step::kEnd : Step::kCaller;
}

}  // namespace landtrace::unwind
