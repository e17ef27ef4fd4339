// What requests about maps and programs carry as their text.
#pragma once

#include "base/shared_layout.hpp"
#include "bpf/map_layout.hpp"

namespace landtrace::ipc {

inline constexpr std::uint32_t kBpfNameSize = 16;

// As `c` of kBpfAttach: the program is of type KPROBE, and the text is a place in code as uprobe_events has it; b = 1:
// at the return; d = the pid of the process in which it runs, 0: in all. EINPROGRESS: the object is being looked
// through, ask again.
inline constexpr std::uint64_t kBpfAtPlace = 2;
// The same, and the text is a function as kprobe_events has it.
inline constexpr std::uint64_t kBpfAtFunction = 3;

// The answer to kBpfLoad: EINPROGRESS while the program is being verified, ask again. b is the program's offset in the
// control segment and, from this bit on, the bytes of its context that it looks at.
inline constexpr unsigned kBpfContextShift = 32;

//   0      4          8            12            16      20
//   +------+----------+------------+-------------+-------+----------+
//   | kind | key_size | value_size | max_entries | flags | name[16] |
//   +------+----------+------------+-------------+-------+----------+
struct BpfMapWish {
  std::uint32_t kind;
  std::uint32_t key_size;
  std::uint32_t value_size;
  std::uint32_t max_entries;
  std::uint32_t flags;
  char name[kBpfNameSize];
};
LT_SHARED(BpfMapWish, 36, 4);
LT_SHARED_AT(BpfMapWish, kind, 0);
LT_SHARED_AT(BpfMapWish, key_size, 4);
LT_SHARED_AT(BpfMapWish, value_size, 8);
LT_SHARED_AT(BpfMapWish, max_entries, 12);
LT_SHARED_AT(BpfMapWish, flags, 16);
LT_SHARED_AT(BpfMapWish, name, 20);

// In front of map_count numbers of maps, and instruction_count instructions, whose references to maps are places in
// that list.
//
//   0                   4           8           12     16
//   +-------------------+-----------+-----------+------+----------+
//   | instruction_count | map_count | log_level | kind | name[16] |
//   +-------------------+-----------+-----------+------+----------+
struct BpfProgramWish {
  std::uint32_t instruction_count;
  std::uint32_t map_count;
  std::uint32_t log_level;
  // bpf_prog_type.
  std::uint32_t kind;
  char name[kBpfNameSize];
};
LT_SHARED(BpfProgramWish, 32, 4);
LT_SHARED_AT(BpfProgramWish, instruction_count, 0);
LT_SHARED_AT(BpfProgramWish, map_count, 4);
LT_SHARED_AT(BpfProgramWish, log_level, 8);
LT_SHARED_AT(BpfProgramWish, kind, 12);
LT_SHARED_AT(BpfProgramWish, name, 16);

}  // namespace landtrace::ipc
