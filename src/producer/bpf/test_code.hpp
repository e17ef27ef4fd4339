// Programs as tests write them down.
#pragma once

#include <initializer_list>
#include <vector>

#include "bpf/instruction.hpp"

namespace landtrace::bpf::code {

inline Instruction make(int code, int dst, int src, int offset, int immediate) {
  Instruction one{};
  one.code = static_cast<std::uint8_t>(code);
  one.dst_reg = static_cast<std::uint8_t>(dst & 15);
  one.src_reg = static_cast<std::uint8_t>(src & 15);
  one.off = static_cast<std::int16_t>(offset);
  one.imm = immediate;
  return one;
}

// r1 = 5; r1 += r2; w1 = …
inline Instruction set(int dst, int immediate) { return make(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, immediate); }
inline Instruction copy(int dst, int src) { return make(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0); }
inline Instruction alu(int operation, int dst, int immediate) {
  return make(BPF_ALU64 | operation | BPF_K, dst, 0, 0, immediate);
}
inline Instruction alu_r(int operation, int dst, int src) {
  return make(BPF_ALU64 | operation | BPF_X, dst, src, 0, 0);
}
inline Instruction alu32(int operation, int dst, int immediate) {
  return make(BPF_ALU | operation | BPF_K, dst, 0, 0, immediate);
}
inline Instruction alu32_r(int operation, int dst, int src) {
  return make(BPF_ALU | operation | BPF_X, dst, src, 0, 0);
}
inline Instruction load(int size, int dst, int src, int offset) {
  return make(BPF_LDX | BPF_MEM | size, dst, src, offset, 0);
}
inline Instruction store(int size, int dst, int offset, int src) {
  return make(BPF_STX | BPF_MEM | size, dst, src, offset, 0);
}
inline Instruction put(int size, int dst, int offset, int immediate) {
  return make(BPF_ST | BPF_MEM | size, dst, 0, offset, immediate);
}
inline Instruction atomic(int size, int operation, int dst, int offset, int src) {
  return make(BPF_STX | BPF_ATOMIC | size, dst, src, offset, operation);
}
inline Instruction jump(int operation, int dst, int immediate, int offset) {
  return make(BPF_JMP | operation | BPF_K, dst, 0, offset, immediate);
}
inline Instruction jump_r(int operation, int dst, int src, int offset) {
  return make(BPF_JMP | operation | BPF_X, dst, src, offset, 0);
}
inline Instruction jump32(int operation, int dst, int immediate, int offset) {
  return make(BPF_JMP32 | operation | BPF_K, dst, 0, offset, immediate);
}
inline Instruction go(int offset) { return make(BPF_JMP | BPF_JA, 0, 0, offset, 0); }
inline Instruction call(int helper) { return make(BPF_JMP | BPF_CALL, 0, 0, 0, helper); }
inline Instruction call_here(int offset) { return make(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, offset); }
inline Instruction leave() { return make(BPF_JMP | BPF_EXIT, 0, 0, 0, 0); }

using Code = std::vector<Instruction>;

inline Code constant(int dst, std::uint64_t number, int kind = 0) {
  return {make(BPF_LD | BPF_IMM | BPF_DW, dst, kind, 0, static_cast<int>(number)),
          make(0, 0, 0, 0, static_cast<int>(number >> 32))};
}
inline Code map(int dst, int number) { return constant(dst, static_cast<std::uint64_t>(number), BPF_PSEUDO_MAP_FD); }
inline Code map_value(int dst, int number, int offset) {
  return constant(dst, static_cast<std::uint64_t>(number) | static_cast<std::uint64_t>(offset) << 32,
                  BPF_PSEUDO_MAP_VALUE);
}

inline Code operator+(Code a, const Code& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace landtrace::bpf::code
