#include "attach/seccomp_filter.hpp"

#include <linux/audit.h>
#include <linux/bpf_common.h>
#include <linux/seccomp.h>

#include <cstddef>

namespace landtrace::attach {
namespace {

using Value = std::optional<std::uint32_t>;  // nullopt: not known

struct State {
  Value a = 0;
  Value x = 0;
  std::array<Value, BPF_MEMWORDS> words{};
};

void merge(Value& into, const Value& other) {
  if (into != other) into.reset();
}

// What is known of both.
void merge(std::optional<State>& into, const State& other) {
  if (!into) {
    into = other;
    return;
  }
  merge(into->a, other.a);
  merge(into->x, other.x);
  for (std::size_t i = 0; i < other.words.size(); ++i) merge(into->words[i], other.words[i]);
}

Value word_of(const SeccompCall& call, std::uint32_t offset) {
  constexpr std::uint32_t kArguments = offsetof(seccomp_data, args);
  if (offset == offsetof(seccomp_data, nr)) return call.number;
  if (offset == offsetof(seccomp_data, arch)) return AUDIT_ARCH_X86_64;
  if (offset < kArguments || offset >= sizeof(seccomp_data)) return std::nullopt;
  const auto& argument = call.arguments[(offset - kArguments) / 8];
  if (!argument) return std::nullopt;
  return static_cast<std::uint32_t>(offset % 8 == 0 ? *argument : *argument >> 32);
}

Value calculate(std::uint16_t code, const Value& a, const Value& operand) {
  if (BPF_OP(code) == BPF_NEG) return a ? Value(0 - *a) : a;
  // Filters ask for bits, and of a mask with none in it the answer is known.
  if (BPF_OP(code) == BPF_AND && (a == 0u || operand == 0u)) return 0;
  if (!a || !operand) return std::nullopt;
  switch (BPF_OP(code)) {
    case BPF_ADD:
      return *a + *operand;
    case BPF_SUB:
      return *a - *operand;
    case BPF_MUL:
      return *a * *operand;
    case BPF_DIV:
      return *operand == 0 ? Value() : Value(*a / *operand);
    case BPF_AND:
      return *a & *operand;
    case BPF_OR:
      return *a | *operand;
    case BPF_XOR:
      return *a ^ *operand;
    case BPF_LSH:
      return *operand > 31 ? Value() : Value(*a << *operand);
    case BPF_RSH:
      return *operand > 31 ? Value() : Value(*a >> *operand);
    default:
      return std::nullopt;
  }
}

bool compare(std::uint16_t code, std::uint32_t a, std::uint32_t operand) {
  switch (BPF_OP(code)) {
    case BPF_JEQ:
      return a == operand;
    case BPF_JGT:
      return a > operand;
    case BPF_JGE:
      return a >= operand;
    default:
      return (a & operand) != 0;
  }
}

// Jumps only lead forwards, so a look at each instruction, in their order, is enough.
class Run {
 public:
  Run(const SeccompFilter& filter, const SeccompCall& call) : filter_(filter), call_(call), states_(filter.size()) {}

  std::set<std::uint32_t> answers() {
    go_to(0, State());
    for (std::size_t i = 0; i < filter_.size(); ++i) {
      if (states_[i]) step(i, *states_[i]);
    }
    return answers_;
  }

 private:
  void go_to(std::size_t at, const State& state) {
    if (at >= states_.size()) {
      answers_.insert(SECCOMP_RET_KILL_PROCESS);
    } else {
      merge(states_[at], state);
    }
  }
  void answer(const Value& value) { answers_.insert(value.value_or(SECCOMP_RET_KILL_PROCESS)); }

  void step(std::size_t at, State state) {
    const sock_filter& line = filter_[at];
    const Value operand = BPF_SRC(line.code) == BPF_X ? state.x : Value(line.k);
    switch (BPF_CLASS(line.code)) {
      case BPF_LD:
        state.a = load(line, state);
        break;
      case BPF_LDX:
        state.x = load(line, state);
        break;
      case BPF_ST:
        if (line.k < BPF_MEMWORDS) state.words[line.k] = state.a;
        break;
      case BPF_STX:
        if (line.k < BPF_MEMWORDS) state.words[line.k] = state.x;
        break;
      case BPF_ALU:
        state.a = calculate(line.code, state.a, operand);
        break;
      case BPF_JMP:
        return jump(at, line, state, operand);
      case BPF_RET:
        return answer(BPF_RVAL(line.code) == BPF_A ? state.a : Value(line.k));
      default:
        (BPF_MISCOP(line.code) == BPF_TAX ? state.x : state.a) = BPF_MISCOP(line.code) == BPF_TAX ? state.a : state.x;
    }
    go_to(at + 1, state);
  }

  [[nodiscard]] Value load(const sock_filter& line, const State& state) const {
    switch (BPF_MODE(line.code)) {
      case BPF_IMM:
        return line.k;
      case BPF_ABS:
        return word_of(call_, line.k);
      case BPF_MEM:
        return line.k < BPF_MEMWORDS ? state.words[line.k] : Value();
      case BPF_LEN:
        return std::uint32_t{sizeof(seccomp_data)};
      default:
        return std::nullopt;
    }
  }

  void jump(std::size_t at, const sock_filter& line, const State& state, const Value& operand) {
    if (BPF_OP(line.code) == BPF_JA) return go_to(at + 1 + line.k, state);
    const bool is_known = state.a && operand;
    if (!is_known || compare(line.code, *state.a, *operand)) go_to(at + 1 + line.jt, state);
    if (!is_known || !compare(line.code, *state.a, *operand)) go_to(at + 1 + line.jf, state);
  }

  const SeccompFilter& filter_;
  const SeccompCall& call_;
  std::vector<std::optional<State>> states_;
  std::set<std::uint32_t> answers_;
};

}  // namespace

std::set<std::uint32_t> answers_of(const SeccompFilter& filter, const SeccompCall& call) {
  return Run(filter, call).answers();
}

}  // namespace landtrace::attach
