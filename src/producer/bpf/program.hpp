// A program as it lies in the control segment: verified, its references to maps replaced by numbers of windows. Written
// by the owner once, then published; immutable and trusted. (What is trusted of it is that it is what the verifier saw;
// each access is checked all the same.)
//
//     0         64              64 + 88 * map_count
//     +---------+---------------+------------------+
//     | Program | MapLayout[]   | Instruction[]    |
//     +---------+---------------+------------------+
#pragma once

#include "bpf/context.hpp"
#include "bpf/map_layout.hpp"
#include "bpf/windows.hpp"

namespace landtrace::bpf {

// Instructions of one run. Where a program wants more it ends there, and that is counted. What helpers do is taken from
// them, too (Machine::spend()).
inline constexpr std::uint64_t kMaxRun = 1'000'000;
// The same of all runs at one event that somebody emits on behalf of another process: others wait meanwhile.
inline constexpr std::uint64_t kMaxRunForOthers = 100'000;

// In front of the text, in the ring buffer of lines.
struct LineHeader {
  std::uint64_t time_ns;
  std::uint32_t pid;
  std::uint32_t cpu;
  char comm[16];
};
LT_SHARED(LineHeader, 32, 8);
LT_SHARED_AT(LineHeader, time_ns, 0);
LT_SHARED_AT(LineHeader, pid, 8);
LT_SHARED_AT(LineHeader, cpu, 12);
LT_SHARED_AT(LineHeader, comm, 16);

// In the data segment: what went wrong, of one program.
struct Figures {
  // An access outside of the program's windows: a mistake of the verifier's.
  std::uint64_t faults;
  // It wanted more than kMaxRun instructions, or its part of kMaxRunForOthers.
  std::uint64_t exceeded;
  // It was not run: the event is in too many pieces, or too large, or nested too deep.
  std::uint64_t missed;
  // Lines that found no room.
  std::uint64_t lines_lost;
  std::uint64_t reserved[4];
};
LT_SHARED(Figures, 64, 8);

//   0                   4           8       12       16        24     32      40          44           48
//   +-------------------+-----------+-------+--------+---------+------+-------+-----------+------------+
//   | instruction_count | map_count | owner | frames | figures | rows | lines | row_count | line_bytes |
//   +------+---------+--+-------+---+-------+--------+---------+------+-------+-----------+------------+
//   | code | context | only_pid |   |
//   +------+---------+----------+---+
//   48     52        56         60  64
struct alignas(8) Program {
  std::uint32_t instruction_count;
  std::uint32_t map_count;
  // Whose it is: which row of consumer positions this user has (plan::View). It runs in this user's programs alone.
  std::uint32_t owner;
  // Of stack that it needs, 1 to kMaxFrames.
  std::uint32_t frames;
  // Offset in a data segment.
  std::uint64_t figures;
  // Offset in a data segment, of a u32 each kRowClaimBytes.
  std::uint64_t rows;
  // Offset in a data segment, of the ring buffer for the lines of bpf_trace_printk(); 0: nobody reads any.
  std::uint64_t lines;
  std::uint32_t row_count;
  // Bytes of that ring buffer's data.
  std::uint32_t line_bytes;
  // Where its code begins in the user's code area; 0: it has none, and is interpreted.
  std::uint32_t code;
  Context context;
  // It runs in this process alone; 0: in all.
  std::uint32_t only_pid;
  std::uint32_t reserved;

  [[nodiscard]] const MapLayout* maps() const { return reinterpret_cast<const MapLayout*>(this + 1); }
  [[nodiscard]] const Instruction* instructions() const {
    return reinterpret_cast<const Instruction*>(maps() + map_count);
  }
};
LT_SHARED(Program, 64, 8);
LT_SHARED_AT(Program, instruction_count, 0);
LT_SHARED_AT(Program, map_count, 4);
LT_SHARED_AT(Program, owner, 8);
LT_SHARED_AT(Program, frames, 12);
LT_SHARED_AT(Program, figures, 16);
LT_SHARED_AT(Program, rows, 24);
LT_SHARED_AT(Program, lines, 32);
LT_SHARED_AT(Program, row_count, 40);
LT_SHARED_AT(Program, line_bytes, 44);
LT_SHARED_AT(Program, code, 48);
LT_SHARED_AT(Program, context, 52);
LT_SHARED_AT(Program, only_pid, 56);

}  // namespace landtrace::bpf
