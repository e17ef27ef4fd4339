// eBPF instructions: the encoding of RFC 9669, with the numbers of <linux/bpf.h>.
//
//   0        1               2         4            8
//   +--------+-------+-------+---------+------------+
//   | opcode | dst:4 | src:4 | offset  | immediate  |      BPF_LD | BPF_DW | BPF_IMM takes two, the upper half of its
//   +--------+-------+-------+---------+------------+      constant is the immediate of the second
#pragma once

#include <linux/bpf.h>

#include <cstdint>

#include "base/shared_layout.hpp"

namespace landtrace::bpf {

using Instruction = ::bpf_insn;
LT_SHARED(Instruction, 8, 4);

// r0 to r9, and r10, the frame pointer.
inline constexpr unsigned kRegisters = 11;
inline constexpr unsigned kFramePointer = 10;
inline constexpr std::uint32_t kFrameSize = 512;
inline constexpr std::uint32_t kMaxFrames = 8;
// Of one program, with its subprograms.
inline constexpr std::uint32_t kMaxInstructions = 1 << 16;
inline constexpr std::uint32_t kMaxMaps = 64;

inline constexpr std::uint8_t kLoadConstant = BPF_LD | BPF_IMM | BPF_DW;
inline constexpr std::uint8_t kCall = BPF_JMP | BPF_CALL;
inline constexpr std::uint8_t kExit = BPF_JMP | BPF_EXIT;

inline std::uint64_t constant_of(const Instruction* two) {
  return static_cast<std::uint32_t>(two[0].imm) | static_cast<std::uint64_t>(static_cast<std::uint32_t>(two[1].imm))
                                                      << 32;
}
// Of a load or store: 1, 2, 4 or 8.
inline std::uint32_t access_size(std::uint8_t code) {
  switch (BPF_SIZE(code)) {
    case BPF_B:
      return 1;
    case BPF_H:
      return 2;
    case BPF_W:
      return 4;
    default:
      return 8;
  }
}

}  // namespace landtrace::bpf
