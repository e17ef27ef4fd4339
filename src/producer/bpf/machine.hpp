// What a run of a program has in memory, as code that the owner has made of the program finds it: the interpreter uses
// the same. On the stack of the thread that runs it; nobody else has its address.
//
//               0        8     12     16        24     32          40              48        64
//   +-----------+--------+-----+------+---------+------+-----------+---------------+---------+--------------------+
//   | … frame 0 | budget | end | held | helpers | data | frame_end | frame_address | context | records[4]         |
//   +-----------+--------+-----+------+---------+------+-----------+---------------+---------+--------------------+
//     program.frames of kFrameSize bytes end where the machine begins
//
// A run begins with a few stores: frame_end and frame_address are stored by code that has subprograms, and records by
// who asks for one; what windows the stack and the maps are follows from where things lie.
#pragma once

#include "bpf/windows.hpp"

namespace landtrace::bpf {

enum class End : std::uint32_t {
  kNone,
  // It has touched what is in none of its windows, or run into something that is no instruction.
  kFault,
  // It wanted more than there is: of instructions, or of what its helpers do.
  kExceeded,
};

struct Execution;
using Helper = std::uint64_t (*)(Execution&, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t);

// Above the greatest number of a helper.
inline constexpr std::uint32_t kHelperLimit = 192;
// What code calls for a pointer whose window it does not know, with the address and how many bytes. The place; 0, and
// the run has ended: it is in none.
inline constexpr std::uint32_t kFindReadable = kHelperLimit;
inline constexpr std::uint32_t kFindWritable = kHelperLimit + 1;
struct HelperTable {
  Helper at[kFindWritable + 1];
};
extern const HelperTable kHelpers;  // helpers.cc

struct Machine {
  // For what a helper does beyond an instruction: a unit for each eight bytes that it copies or fills, and for each
  // element that it looks at. False: the run has ended.
  bool spend(std::uint64_t units) {
    if (__builtin_expect(units > budget, 0)) {
      budget = 0;
      end = End::kExceeded;
      return false;
    }
    budget -= units;
    return true;
  }

  // Instructions that are left.
  std::uint64_t budget;
  End end;
  // Which of `records` are in use, a bit each.
  std::uint32_t held;
  // kHelpers.at
  const Helper* helpers;
  // The data segment.
  std::byte* data;
  // Right behind the frame of the subprogram that is being run, here and as the program sees it: r10.
  std::byte* frame_end;
  std::uint64_t frame_address;
  Window context;
  Window records[kMaxHeldRecords];
};
LT_SHARED(Machine, 128, 8);
LT_SHARED_AT(Machine, budget, 0);
LT_SHARED_AT(Machine, end, 8);
LT_SHARED_AT(Machine, held, 12);
LT_SHARED_AT(Machine, helpers, 16);
LT_SHARED_AT(Machine, data, 24);
LT_SHARED_AT(Machine, frame_end, 32);
LT_SHARED_AT(Machine, frame_address, 40);
LT_SHARED_AT(Machine, context, 48);
LT_SHARED_AT(Machine, records, 64);
LT_SHARED_AT(Window, base, 0);
LT_SHARED_AT(Window, size, 8);

// What stands at the beginning of a program's code. The machine is an Execution's. Returns r0.
using EntryPoint = std::uint64_t (*)(Machine&);

}  // namespace landtrace::bpf
