// A filter as bytes that can lie anywhere: in the control segment, in a process's own memory.
//
//   Program        what it needs
//   Op[op_count]   one per predicate, in the order of the expression
//   pool           patterns, globs, CPU masks, address ranges; by offset from its start
//
// Evaluation begins at the first op and goes on where the op's outcome says. Every jump leads forward, so that no
// program runs longer than it has ops. && || ! and parentheses are nothing but jumps.
#pragma once

#include <cstddef>
#include <cstdint>

namespace landtrace::filter {

inline constexpr std::uint16_t kProgramVersion = 1;
// Most bytes of a program. An expression that needs more is refused with E2BIG.
inline constexpr std::size_t kMaxProgram = 1 << 20;
// Most CPUs that a list of CPUs may name.
inline constexpr std::uint32_t kMaxCpus = 8192;

enum class OpCode : std::uint8_t {
  kNever,  // what the kernel cannot compare never matches
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
};
static_assert(sizeof(Op) == 32);

// A glob's tokens; its classes follow them, 32 bytes each, one bit per character.
struct GlobToken {
  enum Kind : std::uint8_t { kCharacter, kAnyCharacter, kAnyText, kClass };
  Kind kind;
  std::uint8_t value;  // the character, or the number of the class
};
static_assert(sizeof(GlobToken) == 2);
inline constexpr std::size_t kGlobClassBytes = 32;

// Where a function lies in one process, or in all (0). Sorted by process.
struct FunctionRange {
  std::uint32_t process;
  std::uint32_t reserved;
  std::uint64_t begin;
  std::uint64_t end;  // not part of it
};
static_assert(sizeof(FunctionRange) == 24);

struct alignas(8) Program {
  // What of a Context an op looks at; the rest need not be filled in.
  static constexpr std::uint16_t kUsesCpu = 1;
  static constexpr std::uint16_t kUsesComm = 2;
  static constexpr std::uint16_t kUsesProcess = 4;

  std::uint16_t version;
  std::uint16_t uses;
  std::uint16_t op_count;  // at least one
  std::uint16_t reserved;
  std::uint32_t bytes;     // all of it
  std::uint32_t min_size;  // payload bytes up to the end of the last field that is looked at

  [[nodiscard]] const Op* ops() const { return reinterpret_cast<const Op*>(this + 1); }
  [[nodiscard]] const std::byte* pool() const { return reinterpret_cast<const std::byte*>(ops() + op_count); }
};
static_assert(sizeof(Program) == 16);

}  // namespace landtrace::filter
