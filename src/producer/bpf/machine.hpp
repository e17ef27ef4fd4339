// What a run of a program has in memory, as code that the owner has made of the program finds it: the interpreter uses
// the same. On the stack of the thread that runs it; nobody else has its address.
//
//   0        8     12         16        24          32              40             48
//   +--------+-----+----------+---------+-----------+---------------+--------------+---------------------------+
//   | budget | end | reserved | helpers | frame_end | frame_address | window_count | windows[kMaxWindows]      |
//   +--------+-----+----------+---------+-----------+---------------+--------------+---------------------------+
#pragma once

#include "bpf/windows.hpp"

namespace landtrace::bpf {

enum class End : std::uint32_t {
  kNone,
  // It has touched what is in none of its windows, or run into something that is no instruction.
  kFault,
  // It wanted more instructions than there are.
  kExceeded,
};

struct Execution;
using Helper = std::uint64_t (*)(Execution&, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t);

struct Machine {
  // Instructions that are left.
  std::uint64_t budget;
  End end;
  std::uint32_t reserved;
  // By their numbers, kHelperLimit of them.
  const Helper* helpers;
  // Right behind the frame of the subprogram that is being run, here and as the program sees it: r10.
  std::byte* frame_end;
  std::uint64_t frame_address;
  std::uint64_t window_count;
  Window windows[kMaxWindows];
};
LT_SHARED(Machine, 48 + 24 * kMaxWindows, 8);
LT_SHARED_AT(Machine, budget, 0);
LT_SHARED_AT(Machine, end, 8);
LT_SHARED_AT(Machine, helpers, 16);
LT_SHARED_AT(Machine, frame_end, 24);
LT_SHARED_AT(Machine, frame_address, 32);
LT_SHARED_AT(Machine, window_count, 40);
LT_SHARED_AT(Machine, windows, 48);
LT_SHARED_AT(Window, base, 0);
LT_SHARED_AT(Window, size, 8);
LT_SHARED_AT(Window, writable, 16);

// What stands at the beginning of a program's code. The machine is an Execution's. Returns r0.
using EntryPoint = std::uint64_t (*)(Machine&);

}  // namespace landtrace::bpf
