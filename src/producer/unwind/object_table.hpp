// Which object was mapped where in which process: kept in shared memory by those who take stacks, so that addresses mean
// something when the process is gone.
//
// A process claims an entry with one compare-and-swap when a frame lies in an object that has none yet; what has one
// costs a look at a cache of the process's own. An entry is not taken back when its object or process goes: its first_seen
// tells it from what came to be at the same addresses later. Only where the table is full for a new one, an entry of a
// process that is gone makes room; where there is none, the addresses remain addresses.
//
// Readers take the table for hostile: they copy an entry, check that it did not change meanwhile, and check the copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "unwind/object.hpp"

namespace landtrace::unwind {

inline constexpr std::uint32_t kObjectEntries = 8192;
inline constexpr std::size_t kObjectPath = 440;

//   0  u64 claim        0: free. The low half grows with each change and is odd while its writer is at it; the high half is
//                       that writer's pid
//   8  what it says
struct ObjectEntry {
  std::uint64_t claim;
  std::uint32_t pid;
  std::uint16_t path_size;
  std::uint8_t build_id_size;
  std::uint8_t reserved;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t bias;
  std::uint64_t first_seen;  // raw clock
  std::uint8_t build_id[kMaxBuildId];
  char path[kObjectPath];
  std::uint32_t tail;
};
static_assert(sizeof(ObjectEntry) == 512 && offsetof(ObjectEntry, build_id) == 48);

struct alignas(4096) ObjectTable {
  std::uint64_t changes;                    // grows with each entry that is complete
  std::uint64_t used[kObjectEntries / 64];  // a bit each: readers need not touch the pages of the rest
  alignas(4096) ObjectEntry entries[kObjectEntries];
};

// Sees to it that the table has the object, which the calling process `pid` has at this raw time. Async-signal-safe; makes
// system calls when the object is new.
void note_object(ObjectTable& table, std::uint32_t pid, const Object& object, std::uint64_t now);
// The same for another process's object, whose path the caller knows.
void note_object_at(ObjectTable& table, std::uint32_t pid, const Object& object, const char* path, std::uint64_t now);

struct MappedObject {
  std::uint32_t pid = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t bias = 0;
  std::uint64_t first_seen = 0;
  std::string path;
  std::string build_id;  // bytes; empty: it has none
};

// What entry `index` says; nothing where it says nothing, or nothing that makes sense.
std::optional<MappedObject> copy_entry(const ObjectTable& table, std::uint32_t index);

}  // namespace landtrace::unwind
