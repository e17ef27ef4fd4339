// Which object was mapped where in which process: kept in shared memory by those who take stacks, so that addresses
// mean something when the process is gone.
//
//     0         8                    1032     4096         4608
//     +---------+--------------------+--------+------------+------------+----
//     | changes | used, a bit each   | unused | entry 0    | entry 1    | …     kObjectEntries of 512 bytes
//     +---------+--------------------+--------+------------+------------+----
//
//   claim of an entry   63                  32 31                   0
//                       +---------------------+---------------------+   number 0: free
//                       | pid of the writer   | number of changes   |          odd: it is being written
//                       +---------------------+---------------------+          even: it is complete
//
// Who writes: processes of one user, each what its own stacks lie in. A process claims an entry with one
// compare-and-swap when a frame lies in an object that has none yet; for what has one it looks at a cache of its own
// and no further. An entry is not taken back when its object or process goes: its first_seen tells it from what came to
// be at the same addresses later. Only where there is no free entry for a new one, that of a process that is gone makes
// room; where there is none of these either, the addresses remain addresses. A writer killed in the middle leaves the
// number odd, and its pid: its entry makes room as that of a dead process does.
//
// Who reads: the owner and consumers, who take the table for hostile: they copy an entry, check that its claim did not
// change meanwhile, and check the copy. Two entries may say the same, where two threads were at it at once.
//
// Order, as of a sequence lock: the odd claim, then the contents (release fence), then the even claim (release). A
// reader loads the claim (acquire), copies, and loads it again behind an acquire fence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/shared_layout.hpp"
#include "unwind/object.hpp"

namespace landtrace::unwind {

inline constexpr std::uint32_t kObjectEntries = 8192;
inline constexpr std::size_t kObjectPath = 440;

//   0       8     12          14              15   16      24    32     40           48         68     508     512
//   +-------+-----+-----------+---------------+----+-------+-----+------+------------+----------+------+-------+
//   | claim | pid | path_size | build_id_size |    | start | end | bias | first_seen | build_id | path |       |
//   +-------+-----+-----------+---------------+----+-------+-----+------+------------+----------+------+-------+
struct ObjectEntry {
  std::uint64_t claim;
  std::uint32_t pid;
  std::uint16_t path_size;
  std::uint8_t build_id_size;
  std::uint8_t reserved;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t bias;
  // Raw clock.
  std::uint64_t first_seen;
  std::uint8_t build_id[kMaxBuildId];
  // No NUL where it is as long as this.
  char path[kObjectPath];
  std::uint32_t unused;
};
LT_SHARED(ObjectEntry, 512, 8);
LT_SHARED_AT(ObjectEntry, claim, 0);
LT_SHARED_AT(ObjectEntry, pid, 8);
LT_SHARED_AT(ObjectEntry, path_size, 12);
LT_SHARED_AT(ObjectEntry, build_id_size, 14);
LT_SHARED_AT(ObjectEntry, start, 16);
LT_SHARED_AT(ObjectEntry, end, 24);
LT_SHARED_AT(ObjectEntry, bias, 32);
LT_SHARED_AT(ObjectEntry, first_seen, 40);
LT_SHARED_AT(ObjectEntry, build_id, 48);
LT_SHARED_AT(ObjectEntry, path, 68);

struct alignas(4096) ObjectTable {
  // Grows with each entry that is complete.
  std::uint64_t changes;
  // A bit each, so that readers need not touch the pages of the rest.
  std::uint64_t used[kObjectEntries / 64];
  alignas(4096) ObjectEntry entries[kObjectEntries];
};
LT_SHARED(ObjectTable, 4096 + kObjectEntries * 512, 4096);
LT_SHARED_AT(ObjectTable, changes, 0);
LT_SHARED_AT(ObjectTable, used, 8);
LT_SHARED_AT(ObjectTable, entries, 4096);

// Makes sure that the table has the object, which the calling process `pid` has mapped at this raw time.
// Async-signal-safe; makes system calls when the object is new.
void note_object(ObjectTable& table, std::uint32_t pid, const Object& object, std::uint64_t now);
// The same for one that find_fleeting_object() has found, always by system calls.
void note_fleeting_object(ObjectTable& table, std::uint32_t pid, const Object& object, std::uint64_t now);
// The same for another process's object, whose path the caller knows.
void note_object_at(ObjectTable& table, std::uint32_t pid, const Object& object, const char* path, std::uint64_t now);

struct MappedObject {
  std::uint32_t pid = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t bias = 0;
  std::uint64_t first_seen = 0;
  std::string path;
  // Bytes; empty: it has none.
  std::string build_id;
};

// What entry `index` says; nothing where it is free, being written, or makes no sense.
std::optional<MappedObject> copy_entry(const ObjectTable& table, std::uint32_t index);

}  // namespace landtrace::unwind
