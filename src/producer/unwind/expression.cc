#include "unwind/expression.hpp"

namespace landtrace::unwind {
namespace {

constexpr unsigned kMaxDepth = 16;
constexpr unsigned kMaxOperations = 256;  // there are jumps

enum : std::uint8_t {
  kAddr = 0x03,
  kDeref = 0x06,
  kConst1u = 0x08,
  kConst1s,
  kConst2u,
  kConst2s,
  kConst4u,
  kConst4s,
  kConst8u,
  kConst8s,
  kConstu,
  kConsts,
  kDup,
  kDrop,
  kOver,
  kPick,
  kSwap,
  kRot,
  kAbs = 0x19,
  kAnd,
  kDiv,
  kMinus,
  kMod,
  kMul,
  kNeg,
  kNot,
  kOr,
  kPlus,
  kPlusUconst,
  kShl,
  kShr,
  kShra,
  kXor,
  kBra,
  kEq,
  kGe,
  kGt,
  kLe,
  kLt,
  kNe,
  kSkip,
  kLit0 = 0x30,
  kBreg0 = 0x70,
  kBregx = 0x92,
  kDerefSize = 0x94,
  kNop = 0x96,
};

class Machine {
 public:
  Machine(Cursor code, const Registers& registers, WordReader read) : code_(code), registers_(registers), read_(read) {}

  void push(std::uint64_t value) {
    if (depth_ == kMaxDepth) {
      ok_ = false;
    } else {
      stack_[depth_++] = value;
    }
  }
  bool run(std::uint64_t& result) {
    for (unsigned i = 0; ok_ && !code_.at_end(); ++i) {
      if (i == kMaxOperations) return false;
      execute(code_.take<std::uint8_t>());
    }
    result = pop();
    return ok_ && code_.ok();
  }

 private:
  std::uint64_t pop() {
    if (depth_ == 0) {
      ok_ = false;
      return 0;
    }
    return stack_[--depth_];
  }
  template <typename T>
  void push_constant() {
    push(static_cast<std::uint64_t>(std::int64_t{code_.take<T>()}));
  }
  void push_register(std::uint64_t number) {
    const std::int64_t offset = code_.sleb();
    if (!registers_.has(number)) {
      ok_ = false;
      return;
    }
    push(registers_.value[number] + static_cast<std::uint64_t>(offset));
  }
  void pick(std::uint64_t index) {
    if (index >= depth_) {
      ok_ = false;
    } else {
      push(stack_[depth_ - 1 - index]);
    }
  }
  void dereference(unsigned size) {
    std::uint64_t word = 0;
    if (size == 0 || size > 8 || !read_(pop(), word)) {
      ok_ = false;
      return;
    }
    push(size == 8 ? word : word & ((1ull << (size * 8)) - 1));
  }
  void rotate() {
    const std::uint64_t a = pop();
    const std::uint64_t b = pop();
    const std::uint64_t c = pop();
    push(a);
    push(c);
    push(b);
  }
  void execute(std::uint8_t operation);
  void execute_binary(std::uint8_t operation);

  Cursor code_;
  const Registers& registers_;
  WordReader read_;
  std::uint64_t stack_[kMaxDepth] = {};
  unsigned depth_ = 0;
  bool ok_ = true;
};

void Machine::execute(std::uint8_t operation) {
  if (operation >= kLit0 && operation < kLit0 + 32) return push(operation - kLit0);
  if (operation >= kBreg0 && operation < kBreg0 + 32) return push_register(operation - kBreg0);
  switch (operation) {
    case kAddr:
    case kConst8u:
    case kConst8s:
      return push(code_.take<std::uint64_t>());
    case kConst1u:
      return push_constant<std::uint8_t>();
    case kConst1s:
      return push_constant<std::int8_t>();
    case kConst2u:
      return push_constant<std::uint16_t>();
    case kConst2s:
      return push_constant<std::int16_t>();
    case kConst4u:
      return push_constant<std::uint32_t>();
    case kConst4s:
      return push_constant<std::int32_t>();
    case kConstu:
      return push(code_.uleb());
    case kConsts:
      return push(static_cast<std::uint64_t>(code_.sleb()));
    case kDeref:
      return dereference(8);
    case kDerefSize:
      return dereference(code_.take<std::uint8_t>());
    case kDup:
      return pick(0);
    case kOver:
      return pick(1);
    case kPick:
      return pick(code_.take<std::uint8_t>());
    case kDrop:
      pop();
      return;
    case kRot:
      return rotate();
    case kAbs: {
      const std::uint64_t value = pop();
      return push(static_cast<std::int64_t>(value) < 0 ? 0 - value : value);
    }
    case kNeg:
      return push(0 - pop());
    case kNot:
      return push(~pop());
    case kPlusUconst: {
      const std::uint64_t value = pop();
      return push(value + code_.uleb());
    }
    case kBregx:
      return push_register(code_.uleb());
    case kSkip:
      return code_.jump(code_.take<std::int16_t>());
    case kBra: {
      const auto by = code_.take<std::int16_t>();
      if (pop() != 0) code_.jump(by);
      return;
    }
    case kNop:
      return;
    default:
      return execute_binary(operation);
  }
}

void Machine::execute_binary(std::uint8_t operation) {
  const std::uint64_t b = pop();
  const std::uint64_t a = pop();
  const auto sa = static_cast<std::int64_t>(a);
  const auto sb = static_cast<std::int64_t>(b);
  switch (operation) {
    case kSwap:
      push(b);
      return push(a);
    case kAnd:
      return push(a & b);
    case kOr:
      return push(a | b);
    case kXor:
      return push(a ^ b);
    case kPlus:
      return push(a + b);
    case kMinus:
      return push(a - b);
    case kMul:
      return push(a * b);
    case kDiv:
      if (sb == 0) break;
      return push(sb == -1 ? 0 - a : static_cast<std::uint64_t>(sa / sb));
    case kMod:
      if (b == 0) break;
      return push(a % b);
    case kShl:
      return push(b < 64 ? a << b : 0);
    case kShr:
      return push(b < 64 ? a >> b : 0);
    case kShra:
      return push(static_cast<std::uint64_t>(sa >> (b < 64 ? b : 63)));
    case kEq:
      return push(a == b);
    case kNe:
      return push(a != b);
    case kGe:
      return push(sa >= sb);
    case kGt:
      return push(sa > sb);
    case kLe:
      return push(sa <= sb);
    case kLt:
      return push(sa < sb);
    default:
      break;
  }
  ok_ = false;
}

}  // namespace

bool evaluate(Cursor code, const Registers& registers, const std::uint64_t* initial, WordReader read,
              std::uint64_t& result) {
  Machine machine(code, registers, read);
  if (initial != nullptr) machine.push(*initial);
  return machine.run(result);
}

}  // namespace landtrace::unwind
