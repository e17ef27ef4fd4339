// How a place in a program's code is probed: what the owner found out about it (owner/code), in a form that the agent
// in the program carries out without a decoder.
//
//   the place, before                        the place, patched
//     +---------------------------+            +---------+- - - - - - - - -+
//     | displaced instructions    |            | jmp     |  left as it was |
//     +---------------------------+            +---------+- - - - - - - - -+
//                                                   |
//                                                   v
//                                              entry stub: hands the registers to the data plane, then
//                                              `copy`, its fixups made, and a jump behind the displaced instructions
//
// Where there is no room for a jump of 5 bytes, in a function of 4, say, that another one follows, one of 2 may do: to
// padding near by (`spring`), to which nobody comes otherwise, and which has room for the jump to the stub.
//
// Where something jumps to just behind a place in the middle of a function, as to what follows an `if` whose last
// instruction it is, the jump may begin before the place (`lead`): the copy begins with what runs before, and hands the
// registers on in its middle. So it can those of other places within the displaced instructions (`copy_at`), which no
// jump of their own would have room for.
//
// A recipe depends on the object's file alone, so one serves all programs.
#pragma once

#include <cstdint>

#include "arch/registers.hpp"
#include "base/shared_layout.hpp"

namespace landtrace::agent {

inline constexpr std::uint32_t kJumpSize = 5;       // e9 and 32 bits
inline constexpr std::uint32_t kShortJumpSize = 2;  // eb and 8 bits
inline constexpr std::uint32_t kMaxDisplaced = 20;  // whole instructions that begin in the jump's bytes
inline constexpr std::uint32_t kMaxCopy = 96;
inline constexpr std::uint32_t kMaxFixups = 6;

// What has to be so for the jump to be written, besides equal bytes.
//
// "In 8 aligned bytes": the jump is written by one store of those 8 bytes. Intel promises that any store of up to 8
// bytes within a cache line is seen at once or not at all, AMD only one that is aligned to its size, or lies within 8
// aligned bytes; and AMD says of code that other threads run that it has to be written by one such store. So what both
// promise is taken, and 5 bytes that merely lie in one cache line are not enough.
enum class Way : std::uint8_t {
  kRefused,   // `refusal` says why
  kOneStore,  // nothing: no thread can stand within the jump's bytes, which lie in 8 aligned bytes of one cache line
  kQuiet,     // no thread stands in bytes 1 to 4 of the jump (the bytes still lie in 8 aligned ones)
  kAlone,     // there is no other thread: the bytes cross 8 aligned ones
};

// Why a place cannot be probed. Their texts: code/refusal.hpp.
enum class Refusal : std::uint8_t {
  kNone,
  kNoCode,           // not in an executable segment, or not the beginning of an instruction
  kTooShort,         // the function ends before the jump does, and what follows is not padding
  kJumpTarget,       // something jumps into bytes 1 to 4
  kSignalFrame,      // .eh_frame marks it with an S
  kUnknown,          // an instruction that is not known, or cannot be moved
  kOwnCode,          // of the library, or of what it calls
  kSeesItsCaller,    // a return probe on a function that looks at its caller, or returns twice
  kNoReturnAddress,  // a return probe where there is no return address
  kNotAnEntry,       // a return probe that is not at the beginning of a function that is called
  kMayBeJumpTarget,  // within a function, where its table of jumps is not understood: perhaps into bytes 1 to 4
};

// A place in `copy` that depends on where the object and the copy are in a program.
enum class FixupKind : std::uint8_t {
  kRelative32,  // 4 bytes: address of the place + `target` - (address of the copy + `next`)
  kAbsolute64,  // 8 bytes: address of the place + `target`
  kLow32,       // 4 bytes: the low half of that
  kHigh32,      // 4 bytes: the high half
};
struct Fixup {
  std::int32_t target;  // from the place
  std::uint8_t at;      // in `copy`
  std::uint8_t next;    // kRelative32: where in `copy` the instruction ends that the bytes belong to
  FixupKind kind;
  std::uint8_t reserved;
};
LT_SHARED(Fixup, 8, 4);
LT_SHARED_AT(Fixup, target, 0);
LT_SHARED_AT(Fixup, at, 4);
LT_SHARED_AT(Fixup, next, 5);
LT_SHARED_AT(Fixup, kind, 6);

//   0     1         2      3     4      5       6        8          32        39     40     136      184
//   +-----+---------+------+-----+------+-------+--------+----------+---------+------+------+--------+---------+
//   | way | refusal | size | … sizes of | flags | spring | expected | padding | lead | copy | fixups | copy_at |
//   +-----+---------+------+-----+------+-------+--------+----------+---------+------+------+--------+---------+
//
// All of it counts from where the jump is: `lead` bytes before the place.
struct Recipe {
  Way way;
  Refusal refusal;  // kRefused: why; else that of a return probe here, or kNone
  // Bytes of the instructions that begin in the jump's bytes, padding behind a function's end among them: 5 or more.
  // The copy goes on there. Where it never comes back, what lies behind its last instruction is not in it.
  std::uint8_t displaced;
  std::uint8_t copy_size;
  std::uint8_t fixup_count;
  // kAtEntry: at a function's beginning, where the flags and the red zone are dead.
  std::uint8_t flags;
  // How far the padding is from the place; 0: none is needed.
  std::int16_t spring;
  // The file's bytes at the place, as many as its segment has; `displaced` of them are compared.
  std::uint8_t expected[24];
  // Those of the padding, kJumpSize of them.
  std::uint8_t padding[7];
  std::uint8_t lead;
  std::uint8_t copy[kMaxCopy];
  Fixup fixups[kMaxFixups];
  // Where in the copy the instruction is that begins so many bytes behind the jump's beginning. 0, but for the first:
  // none begins there that is run.
  std::uint8_t copy_at[kMaxDisplaced];

  [[nodiscard]] std::uint32_t hit_at() const { return copy_at[lead % kMaxDisplaced]; }
};
inline constexpr std::uint8_t kAtEntry = 1;
// The last of the copy goes elsewhere always (a jump, a return): there is no jump back behind it.
inline constexpr std::uint8_t kNeverComesBack = 2;
LT_SHARED(Recipe, 204, 4);
LT_SHARED_AT(Recipe, way, 0);
LT_SHARED_AT(Recipe, refusal, 1);
LT_SHARED_AT(Recipe, displaced, 2);
LT_SHARED_AT(Recipe, copy_size, 3);
LT_SHARED_AT(Recipe, fixup_count, 4);
LT_SHARED_AT(Recipe, flags, 5);
LT_SHARED_AT(Recipe, spring, 6);
LT_SHARED_AT(Recipe, expected, 8);
LT_SHARED_AT(Recipe, padding, 32);
LT_SHARED_AT(Recipe, lead, 39);
LT_SHARED_AT(Recipe, copy, 40);
LT_SHARED_AT(Recipe, fixups, 136);
LT_SHARED_AT(Recipe, copy_at, 184);

using enum arch::Register;
using arch::Register;
struct Registers {
  std::uint64_t value[kRegisters];
};

}  // namespace landtrace::agent
