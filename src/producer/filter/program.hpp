// A filter as bytes that can lie anywhere: in the control segment, in a process's own memory. Immutable.
//
//     0         16        48        80
//     +---------+---------+---------+----   ----+--------------------------------------------------+
//     | Program | op 0    | op 1    | …         | pool: patterns, globs, CPU masks, address ranges |
//     +---------+---------+---------+----   ----+--------------------------------------------------+
//
// There is one op per predicate, in the order of the expression. What does not fit into an op is in the pool, by offset
// from the pool's start.
//
// Evaluation begins at the first op and goes on where the op's outcome says. && || ! and parentheses are nothing but
// jumps:
//
//     a < 5 && (b == 1 || c)      op 0   a < 5     match: op 1     mismatch: reject
//                                 op 1   b == 1    match: pass     mismatch: op 2
//                                 op 2   c         match: pass     mismatch: reject
//
// Every jump leads forward, so that no program runs longer than it has ops.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/shared_layout.hpp"

namespace landtrace::filter {

inline constexpr std::uint16_t kProgramVersion = 1;
// Most bytes of a program. An expression that needs more is refused with E2BIG.
inline constexpr std::size_t kMaxProgram = 1 << 20;
// Most CPUs that a list of CPUs may name.
inline constexpr std::uint32_t kMaxCpus = 8192;

enum class OpCode : std::uint8_t {
  // What the kernel cannot compare never matches.
  kNever,
  // Numbers of 8 to 64 bits: whether (value - low) <= span, modulo 2^bits. Every comparison of signed and unsigned
  // numbers is one of these or its opposite.
  kRange8,
  kRange16,
  kRange32,
  kRange64,
  // Whether value & bits is not 0.
  kBits8,
  kBits16,
  kBits32,
  kBits64,
  kHeaderRange,  // the same on `size` bytes of the common header
  kHeaderBits,
  kCpuRange,  // on the CPU, as 32 bits
  // Text.
  kEqual,
  kPrefix,
  kInside,
  kSuffix,
  kGlob,
  // Masks of CPUs.
  kCpuInMask,       // the CPU is one of the mask
  kNumberInMask,    // a number of `size` bytes, of the payload or the header, is
  kMaskEqual,       // the mask at a dynamic location is the same
  kMaskIntersects,  // … has one of them
  kFunction,        // a 64-bit address lies in a function of the process
};
inline constexpr std::uint8_t kOpCodes = static_cast<std::uint8_t>(OpCode::kFunction) + 1;

// Where an op finds its text, mask or number.
enum class Source : std::uint8_t {
  kField,    // `size` bytes at `offset` of the payload
  kDataLoc,  // where the u32 at `offset` says
  kRelLoc,   // the same, counted from the end of that u32
  kHeader,   // `size` bytes at `offset` of the common header
  kComm,     // the thread's name
  kCpu,
};
inline constexpr std::uint8_t kSources = static_cast<std::uint8_t>(Source::kCpu) + 1;

//   0      1        2          4             6    8        12     16               24             32
//   +------+--------+----------+-------------+----+--------+------+----------------+--------------+
//   | code | source | on_match | on_mismatch |    | offset | size | low, bits, pool| span, count  |
//   +------+--------+----------+-------------+----+--------+------+----------------+--------------+
struct Op {
  // Instead of the index of an op.
  static constexpr std::uint16_t kPass = 0xffff;
  static constexpr std::uint16_t kReject = 0xfffe;

  OpCode code;
  Source source;
  std::uint16_t on_match;
  std::uint16_t on_mismatch;
  std::uint16_t reserved;
  std::uint32_t offset;
  std::uint32_t size;
  union {
    std::uint64_t low;   // kRange*
    std::uint64_t bits;  // kBits*
    std::uint64_t pool;  // where the operand begins in the pool
  };
  union {
    std::uint64_t span;   // kRange*
    std::uint64_t count;  // of the operand: bytes of a pattern, CPUs, glob tokens, address ranges
  };

  // kRange*: how many bytes the number has, and whether one with these low bytes is met.
  [[nodiscard]] bool is_range() const { return code >= OpCode::kRange8 && code <= OpCode::kRange64; }
  [[nodiscard]] std::uint32_t range_size() const {
    return 1u << (static_cast<std::uint8_t>(code) - static_cast<std::uint8_t>(OpCode::kRange8));
  }
  [[nodiscard]] bool range_has(std::uint64_t number) const {
    const std::uint64_t mask = ~0ull >> (64 - 8 * range_size());
    return ((number - low) & mask) <= (span & mask);
  }
};
LT_SHARED(Op, 32, 8);
LT_SHARED_AT(Op, code, 0);
LT_SHARED_AT(Op, source, 1);
LT_SHARED_AT(Op, on_match, 2);
LT_SHARED_AT(Op, on_mismatch, 4);
LT_SHARED_AT(Op, offset, 8);
LT_SHARED_AT(Op, size, 12);
LT_SHARED_AT(Op, low, 16);
LT_SHARED_AT(Op, bits, 16);
LT_SHARED_AT(Op, pool, 16);
LT_SHARED_AT(Op, span, 24);
LT_SHARED_AT(Op, count, 24);

// A glob's tokens; its classes follow them, 32 bytes each, one bit per character.
struct GlobToken {
  enum Kind : std::uint8_t { kCharacter, kAnyCharacter, kAnyText, kClass };
  Kind kind;
  // The character, or the number of the class.
  std::uint8_t value;
};
LT_SHARED(GlobToken, 2, 1);
LT_SHARED_AT(GlobToken, kind, 0);
LT_SHARED_AT(GlobToken, value, 1);
inline constexpr std::size_t kGlobClassBytes = 32;

// Where a function lies in one process, or in all (0). Sorted by process.
struct FunctionRange {
  std::uint32_t process;
  std::uint32_t reserved;
  std::uint64_t begin;
  // Not part of it.
  std::uint64_t end;
};
LT_SHARED(FunctionRange, 24, 8);
LT_SHARED_AT(FunctionRange, process, 0);
LT_SHARED_AT(FunctionRange, begin, 8);
LT_SHARED_AT(FunctionRange, end, 16);

struct alignas(8) Program {
  // What of a Context an op looks at; the rest need not be filled in.
  static constexpr std::uint16_t kUsesCpu = 1;
  static constexpr std::uint16_t kUsesComm = 2;
  static constexpr std::uint16_t kUsesProcess = 4;

  std::uint16_t version;
  std::uint16_t uses;
  // At least one.
  std::uint16_t op_count;
  std::uint16_t reserved;
  // Of the whole program.
  std::uint32_t bytes;
  // Payload bytes up to the end of the last field that is looked at.
  std::uint32_t min_size;

  [[nodiscard]] const Op* ops() const { return reinterpret_cast<const Op*>(this + 1); }
  [[nodiscard]] const std::byte* pool() const { return reinterpret_cast<const std::byte*>(ops() + op_count); }
};
LT_SHARED(Program, 16, 8);
LT_SHARED_AT(Program, version, 0);
LT_SHARED_AT(Program, uses, 2);
LT_SHARED_AT(Program, op_count, 4);
LT_SHARED_AT(Program, bytes, 8);
LT_SHARED_AT(Program, min_size, 12);

}  // namespace landtrace::filter
