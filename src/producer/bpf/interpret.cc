#include "bpf/interpret.hpp"

#include <cstring>

#include "bpf/helpers.hpp"

namespace landtrace::bpf {
namespace {

// A subprogram's caller: what it finds again when the subprogram ends.
struct Caller {
  const Instruction* next;
  std::uint64_t kept[5];  // r6 to r9, r10
};

std::uint64_t divided(std::uint64_t a, std::uint64_t b) { return b == 0 ? 0 : a / b; }
std::uint64_t remainder(std::uint64_t a, std::uint64_t b) { return b == 0 ? a : a % b; }

std::uint64_t in_byte_order(std::uint64_t value, std::int32_t bits, bool swap) {
  switch (bits) {
    case 16:
      return swap ? __builtin_bswap16(static_cast<std::uint16_t>(value)) : static_cast<std::uint16_t>(value);
    case 32:
      return swap ? __builtin_bswap32(static_cast<std::uint32_t>(value)) : static_cast<std::uint32_t>(value);
    default:
      return swap ? __builtin_bswap64(value) : value;
  }
}

template <typename T>
bool load(const Execution& run, std::uint64_t address, std::uint64_t& value) {
  const std::byte* const at = run.readable(address, sizeof(T));
  if (at == nullptr) return false;
  T there;
  std::memcpy(&there, at, sizeof there);
  value = there;
  return true;
}

template <typename T>
bool store(const Execution& run, std::uint64_t address, std::uint64_t value) {
  std::byte* const at = run.writable(address, sizeof(T));
  if (at == nullptr) return false;
  const auto there = static_cast<T>(value);
  std::memcpy(at, &there, sizeof there);
  return true;
}

// As the kernel's are: programs may order other things by them. Each pairs with those of other programs.
constexpr int kProgramOrder = __ATOMIC_SEQ_CST;

template <typename T>
bool change(const Execution& run, std::uint64_t address, std::int32_t how, std::uint64_t& source, std::uint64_t& r0) {
  if (address % sizeof(T) != 0) return false;
  auto* const at = reinterpret_cast<T*>(run.writable(address, sizeof(T)));
  if (at == nullptr || reinterpret_cast<std::uintptr_t>(at) % sizeof(T) != 0) return false;
  const auto operand = static_cast<T>(source);
  T before = 0;
  switch (how & ~BPF_FETCH) {
    case BPF_ADD:
      before = __atomic_fetch_add(at, operand, kProgramOrder);
      break;
    case BPF_OR:
      before = __atomic_fetch_or(at, operand, kProgramOrder);
      break;
    case BPF_AND:
      before = __atomic_fetch_and(at, operand, kProgramOrder);
      break;
    case BPF_XOR:
      before = __atomic_fetch_xor(at, operand, kProgramOrder);
      break;
    case BPF_XCHG & ~BPF_FETCH:
      before = __atomic_exchange_n(at, operand, kProgramOrder);
      break;
    case BPF_CMPXCHG & ~BPF_FETCH: {
      T expected = static_cast<T>(r0);
      __atomic_compare_exchange_n(at, &expected, operand, false, kProgramOrder, kProgramOrder);
      r0 = expected;
      return true;
    }
    default:
      return false;
  }
  if ((how & BPF_FETCH) != 0) source = before;
  return true;
}

template <typename T>
bool holds(std::uint8_t operation, T a, T b) {
  using Signed = std::make_signed_t<T>;
  switch (operation) {
    case BPF_JEQ:
      return a == b;
    case BPF_JNE:
      return a != b;
    case BPF_JGT:
      return a > b;
    case BPF_JGE:
      return a >= b;
    case BPF_JLT:
      return a < b;
    case BPF_JLE:
      return a <= b;
    case BPF_JSET:
      return (a & b) != 0;
    case BPF_JSGT:
      return static_cast<Signed>(a) > static_cast<Signed>(b);
    case BPF_JSGE:
      return static_cast<Signed>(a) >= static_cast<Signed>(b);
    case BPF_JSLT:
      return static_cast<Signed>(a) < static_cast<Signed>(b);
    default:
      return static_cast<Signed>(a) <= static_cast<Signed>(b);
  }
}

}  // namespace

// One case for each opcode: what an instruction costs is mostly the way to it.
#define LT_ALU(operation, expression64, expression32)                                                          \
  case BPF_ALU64 | (operation) | BPF_X: {                                                                      \
    const std::uint64_t a = r[at->dst_reg], b = r[at->src_reg];                                                \
    r[at->dst_reg] = (expression64);                                                                           \
    break;                                                                                                     \
  }                                                                                                            \
  case BPF_ALU64 | (operation) | BPF_K: {                                                                      \
    const std::uint64_t a = r[at->dst_reg], b = static_cast<std::uint64_t>(std::int64_t{at->imm});             \
    r[at->dst_reg] = (expression64);                                                                           \
    break;                                                                                                     \
  }                                                                                                            \
  case BPF_ALU | (operation) | BPF_X: {                                                                        \
    const auto a = static_cast<std::uint32_t>(r[at->dst_reg]), b = static_cast<std::uint32_t>(r[at->src_reg]); \
    r[at->dst_reg] = static_cast<std::uint32_t>(expression32);                                                 \
    break;                                                                                                     \
  }                                                                                                            \
  case BPF_ALU | (operation) | BPF_K: {                                                                        \
    const auto a = static_cast<std::uint32_t>(r[at->dst_reg]), b = static_cast<std::uint32_t>(at->imm);        \
    r[at->dst_reg] = static_cast<std::uint32_t>(expression32);                                                 \
    break;                                                                                                     \
  }

#define LT_JUMP(operation)                                                                                          \
  case BPF_JMP | (operation) | BPF_X:                                                                               \
    if (holds<std::uint64_t>(operation, r[at->dst_reg], r[at->src_reg])) at += at->off;                             \
    break;                                                                                                          \
  case BPF_JMP | (operation) | BPF_K:                                                                               \
    if (holds(operation, std::uint64_t{r[at->dst_reg]}, static_cast<std::uint64_t>(std::int64_t{at->imm}))) {       \
      at += at->off;                                                                                                \
    }                                                                                                               \
    break;                                                                                                          \
  case BPF_JMP32 | (operation) | BPF_X:                                                                             \
    if (holds(operation, static_cast<std::uint32_t>(r[at->dst_reg]), static_cast<std::uint32_t>(r[at->src_reg]))) { \
      at += at->off;                                                                                                \
    }                                                                                                               \
    break;                                                                                                          \
  case BPF_JMP32 | (operation) | BPF_K:                                                                             \
    if (holds(operation, static_cast<std::uint32_t>(r[at->dst_reg]), static_cast<std::uint32_t>(at->imm))) {        \
      at += at->off;                                                                                                \
    }                                                                                                               \
    break;

#define LT_MEMORY(size, type)                                                                                    \
  case BPF_LDX | BPF_MEM | (size):                                                                               \
    if (!load<type>(run, r[at->src_reg] + static_cast<std::uint64_t>(std::int64_t{at->off}), r[at->dst_reg])) {  \
      return run.stop(End::kFault);                                                                              \
    }                                                                                                            \
    break;                                                                                                       \
  case BPF_STX | BPF_MEM | (size):                                                                               \
    if (!store<type>(run, r[at->dst_reg] + static_cast<std::uint64_t>(std::int64_t{at->off}), r[at->src_reg])) { \
      return run.stop(End::kFault);                                                                              \
    }                                                                                                            \
    break;                                                                                                       \
  case BPF_ST | BPF_MEM | (size):                                                                                \
    if (!store<type>(run, r[at->dst_reg] + static_cast<std::uint64_t>(std::int64_t{at->off}),                    \
                     static_cast<std::uint64_t>(std::int64_t{at->imm}))) {                                       \
      return run.stop(End::kFault);                                                                              \
    }                                                                                                            \
    break;

std::uint64_t interpret(Execution& run) {
  std::uint64_t r[16] = {};  // 16: whatever number stands in an instruction
  Caller callers[kMaxFrames];
  std::uint32_t depth = 0;
  r[1] = run.context_address();
  r[kFramePointer] = window_address(kStackWindow, kFrameSize);
  const Instruction* const first = run.program.instructions();
  const Instruction* const end = first + run.program.instruction_count;
  std::uint64_t left = run.budget;
  for (const Instruction* at = first; at >= first && at < end; ++at) {
    if (__builtin_expect(left-- == 0, 0)) return run.stop(End::kExceeded);
    switch (at->code) {
      LT_ALU(BPF_ADD, a + b, a + b)
      LT_ALU(BPF_SUB, a - b, a - b)
      LT_ALU(BPF_MUL, a * b, a * b)
      LT_ALU(BPF_DIV, divided(a, b), divided(a, b))
      LT_ALU(BPF_MOD, remainder(a, b), remainder(a, b))
      LT_ALU(BPF_OR, a | b, a | b)
      LT_ALU(BPF_AND, a & b, a & b)
      LT_ALU(BPF_XOR, a ^ b, a ^ b)
      LT_ALU(BPF_LSH, a << (b & 63), a << (b & 31))
      LT_ALU(BPF_RSH, a >> (b & 63), a >> (b & 31))
      LT_ALU(BPF_ARSH, static_cast<std::uint64_t>(static_cast<std::int64_t>(a) >> (b & 63)),
             static_cast<std::int32_t>(a) >> (b & 31))
      LT_ALU(BPF_MOV, (static_cast<void>(a), b), (static_cast<void>(a), b))
      LT_JUMP(BPF_JEQ)
      LT_JUMP(BPF_JNE)
      LT_JUMP(BPF_JGT)
      LT_JUMP(BPF_JGE)
      LT_JUMP(BPF_JLT)
      LT_JUMP(BPF_JLE)
      LT_JUMP(BPF_JSET)
      LT_JUMP(BPF_JSGT)
      LT_JUMP(BPF_JSGE)
      LT_JUMP(BPF_JSLT)
      LT_JUMP(BPF_JSLE)
      LT_MEMORY(BPF_B, std::uint8_t)
      LT_MEMORY(BPF_H, std::uint16_t)
      LT_MEMORY(BPF_W, std::uint32_t)
      LT_MEMORY(BPF_DW, std::uint64_t)
      case BPF_ALU64 | BPF_NEG:
        r[at->dst_reg] = -r[at->dst_reg];
        break;
      case BPF_ALU | BPF_NEG:
        r[at->dst_reg] = static_cast<std::uint32_t>(-r[at->dst_reg]);
        break;
      case BPF_ALU | BPF_END | BPF_TO_LE:
        r[at->dst_reg] = in_byte_order(r[at->dst_reg], at->imm, false);
        break;
      case BPF_ALU | BPF_END | BPF_TO_BE:
        r[at->dst_reg] = in_byte_order(r[at->dst_reg], at->imm, true);
        break;
      case kLoadConstant:
        if (at + 1 == end) return run.stop(End::kFault);
        r[at->dst_reg] = constant_of(at);
        ++at;
        break;
      case BPF_STX | BPF_ATOMIC | BPF_W:
        if (!change<std::uint32_t>(run, r[at->dst_reg] + static_cast<std::uint64_t>(std::int64_t{at->off}), at->imm,
                                   r[at->src_reg], r[0])) {
          return run.stop(End::kFault);
        }
        break;
      case BPF_STX | BPF_ATOMIC | BPF_DW:
        if (!change<std::uint64_t>(run, r[at->dst_reg] + static_cast<std::uint64_t>(std::int64_t{at->off}), at->imm,
                                   r[at->src_reg], r[0])) {
          return run.stop(End::kFault);
        }
        break;
      case BPF_JMP | BPF_JA:
        at += at->off;
        break;
      case kCall:
        if (at->src_reg == BPF_PSEUDO_CALL) {
          if (depth + 1 == kMaxFrames) return run.stop(End::kFault);
          callers[depth] = {at, {r[6], r[7], r[8], r[9], r[kFramePointer]}};
          ++depth;
          r[kFramePointer] += kFrameSize;
          at += at->imm;
          break;
        }
        {
          const Helper helper = find_helper(static_cast<std::uint32_t>(at->imm));
          if (helper == nullptr) return run.stop(End::kFault);
          run.budget = left;
          r[0] = helper(run, r[1], r[2], r[3], r[4], r[5]);
          if (__builtin_expect(run.end != End::kNone, 0)) return 0;
          left = run.budget;
          // As behind any function: what was there is gone.
          r[1] = r[2] = r[3] = r[4] = r[5] = 0;
        }
        break;
      case kExit:
        if (depth == 0) {
          run.budget = left;
          return r[0];
        }
        --depth;
        for (unsigned i = 0; i < 4; ++i) r[6 + i] = callers[depth].kept[i];
        r[kFramePointer] = callers[depth].kept[4];
        at = callers[depth].next;
        break;
      default:
        return run.stop(End::kFault);
    }
  }
  return run.stop(End::kFault);
}

#undef LT_ALU
#undef LT_JUMP
#undef LT_MEMORY

}  // namespace landtrace::bpf
