// The control segment: what the owner says to producers and consumers, who map it read-only.
//
//   0          magic, version, clock, sizes, what changed     (the first cache lines)
//   64         owner_alive
//   128        EventSlot  events[kMaxEvents]    32 each       half a MiB
//   ...        FileSlot   files[kMaxFiles]      8 each        half a MiB
//   ...        counter_line
//   ...        ProbeSlot  probes[kMaxProbes]    16 each       128 KiB
//   sizeof     heap, up to kControlBytes                      sparse: only what is used is there
//   256 MiB    code areas                     2 MiB a user    not mapped with the others
//
// Words that publish something are read and written atomically: plan, generation, text and registered of an event's
// slot, table and generation of a file's, count of a table, event_changes, event_high, user_count, user_changes. The
// others are written before one of these, or before anybody else has the segment's descriptor.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

#include "abi/user_events.hpp"
#include "arch/thread_time.hpp"
#include "base/shared_layout.hpp"
#include "plan/steps.hpp"

namespace landtrace::plan {

inline constexpr std::uint64_t kControlMagic = 0x6c6f72746e6f434c;  // "LControl"
// Of both segments.
inline constexpr std::uint32_t kLayoutVersion = 13;

inline constexpr std::uint32_t kMaxEvents = 16384;
// Slots of events that nobody registers and that have no plan: what is written to trace_marker and trace_marker_raw,
// and the stacks of threads.
inline constexpr std::uint32_t kPrintSlot = 0;
inline constexpr std::uint32_t kRawDataSlot = 1;
inline constexpr std::uint32_t kUserStackSlot = 2;
inline constexpr std::uint32_t kFirstEventSlot = 3;
// Their ids in tracefs and in raw pages: the kernel's.
inline constexpr std::uint16_t kPrintId = 5;
inline constexpr std::uint16_t kUserStackId = 12;
inline constexpr std::uint16_t kRawDataId = 18;
inline constexpr std::uint32_t kMaxFiles = 65536;
// Places in code that events are at.
inline constexpr std::uint32_t kMaxProbes = 8192;
inline constexpr std::uint32_t kMaxUsers = 64;
inline constexpr std::uint64_t kControlBytes = 256ull << 20;
// Behind the segment, in the same memory: code of each user's eBPF programs, by the user's index. A producer maps what
// is of its own user, to be read and run.
inline constexpr std::uint64_t kCodeBytes = 2ull << 20;
inline constexpr std::uint64_t kControlFileBytes = kControlBytes + kMaxUsers * kCodeBytes;
constexpr std::uint64_t code_area(std::uint32_t user) { return kControlBytes + user * kCodeBytes; }

// A slot is taken for one event after another. Its parts are written in the order generation, texts and numbers,
// generation (domain/events.cc), so that a reader who finds the same generation before and after has them of one event;
// `plan` changes by itself.
//
//   0      4            8          12       16            18   20     24          28           32
//   +------+------------+----------+--------+-------------+----+------+-----------+------------+
//   | plan | generation | min_size | checks | check_count | id | text | text_size | registered |
//   +------+------------+----------+--------+-------------+----+------+-----------+------------+
struct EventSlot {
  // Offset of the published Plan; 0: nobody listens. It is also the enable word of the native library.
  std::uint32_t plan;
  // Grows when the slot is taken for another event, and again when that one is complete. 0: never used. It begins at
  // another number in each slot and with each owner, so that nobody takes one event for another.
  std::uint32_t generation;
  // Payload bytes that a write must have.
  std::uint32_t min_size;
  // Offset of abi::DynamicFieldCheck[check_count].
  std::uint32_t checks;
  std::uint16_t check_count;
  // The id that tracefs and trace files show.
  std::uint16_t id;
  // Offset of "SYSTEM\0NAME\0FIELDS\0FLAVOUR\0" (event::parse_declared()), which stays valid when the event is gone,
  // until the slot is taken again: rings may hold records of it.
  std::uint32_t text;
  std::uint32_t text_size;
  // 0 when the event is gone.
  std::uint32_t registered;
};
LT_SHARED(EventSlot, 32, 4);
LT_SHARED_AT(EventSlot, plan, 0);
LT_SHARED_AT(EventSlot, generation, 4);
LT_SHARED_AT(EventSlot, min_size, 8);
LT_SHARED_AT(EventSlot, checks, 12);
LT_SHARED_AT(EventSlot, check_count, 16);
LT_SHARED_AT(EventSlot, id, 18);
LT_SHARED_AT(EventSlot, text, 20);
LT_SHARED_AT(EventSlot, text_size, 24);
LT_SHARED_AT(EventSlot, registered, 28);

// What programs have said of an event's structs (event/description.hpp), the newest of it. It may change while the
// event is there. `version` is odd while it does, and even and another one when it has: a reader who finds the same
// even one before and after has read one description.
//
//   0      4      8         12
//   +------+------+---------+----------+
//   | text | size | version | reserved |
//   +------+------+---------+----------+
struct SlotDescription {
  // Offset; 0: there is none.
  std::uint32_t text;
  std::uint32_t size;
  std::uint32_t version;
  std::uint32_t reserved;
};
LT_SHARED(SlotDescription, 16, 4);
LT_SHARED_AT(SlotDescription, text, 0);
LT_SHARED_AT(SlotDescription, size, 4);
LT_SHARED_AT(SlotDescription, version, 8);

// An open user_events_data.
struct FileSlot {
  // Offset of the published FileTable; 0: nothing is registered. kPlainFile may be set in it.
  std::uint32_t table;
  // Of the file that has this slot; 0: free.
  std::uint32_t generation;
};
LT_SHARED(FileSlot, 8, 4);
LT_SHARED_AT(FileSlot, table, 0);
LT_SHARED_AT(FileSlot, generation, 4);

// In FileSlot::table, whose offsets are multiples of 8: what is written to the file is payload from its first byte, of
// the one event in the table (the 2021 proposal).
inline constexpr std::uint32_t kPlainFile = 1;

// A place in programs' code that an enabled event names (probe.hpp).
//
//   0       4            8      12
//   +-------+------------+------+---------+
//   | hooks | generation | site | version |
//   +-------+------------+------+---------+
struct ProbeSlot {
  // Offset of the published ProbeHooks; 0: nobody listens.
  std::uint32_t hooks;
  // Grows when the slot is taken for another place. 0: never used.
  std::uint32_t generation;
  // Offset of the agent::ProbeSite; 0: free. Stays valid until the slot is taken again.
  std::uint32_t site;
  // Grows when the same place has another site, which wants more of it or less.
  std::uint32_t version;
};
LT_SHARED(ProbeSlot, 16, 4);
LT_SHARED_AT(ProbeSlot, hooks, 0);
LT_SHARED_AT(ProbeSlot, generation, 4);
LT_SHARED_AT(ProbeSlot, site, 8);
LT_SHARED_AT(ProbeSlot, version, 12);

// Which event a write index of a file means.
//
//   0       4          8
//   +-------+----------+----------+----   ----+- - - - - -
//   | count | index 0  | index 1  | … slots   | room to grow
//   +-------+----------+----------+----   ----+- - - - - -
//
// It grows in place: the owner writes the new slot and then stores `count` (release), which pairs with the acquire load
// in find_event(), file_write.cc. A full one is replaced by a larger copy.
struct FileTable {
  std::uint32_t count;

  [[nodiscard]] const std::uint32_t* events() const { return &count + 1; }
};
LT_SHARED(FileTable, 4, 4);

struct alignas(4096) ControlSegment {
  std::uint64_t magic;
  std::uint32_t version;
  // arch::RawClock.
  std::uint32_t raw_clock;
  // Rings of a set that belong to CPUs, and those that are claimed.
  std::uint32_t cpus;
  std::uint32_t claimed;
  // Size of every data segment.
  std::uint64_t data_bytes;
  // How many users have a data segment.
  std::uint32_t user_count;
  // Event slots at and above this were never used.
  std::uint32_t event_high;
  // Grows with each registration, removal and description.
  std::uint64_t event_changes;
  abi::Version abi;
  // Grows when an index is another user's from here on, in a segment of its own.
  std::uint64_t user_changes;
  // A robust lock that the owner's serving thread holds for its whole life. When the owner dies, even by SIGKILL, the
  // kernel itself marks the word; a producer that sees the mark stops.
  alignas(64) pthread_mutex_t owner_alive;
  alignas(64) EventSlot events[kMaxEvents];
  FileSlot files[kMaxFiles];
  // By event slot.
  SlotDescription descriptions[kMaxEvents];
  // For threads that may not read the time stamp counter.
  arch::CounterLine counter_line;
  // Slots of probes at and above this were never used.
  std::uint32_t probe_high;
  // Grows when a site of a probe comes or goes. A futex.
  std::uint32_t probe_changes;
  alignas(64) ProbeSlot probes[kMaxProbes];
};
LT_SHARED(ControlSegment, 0x161000, 4096);
LT_SHARED_AT(ControlSegment, magic, 0);
LT_SHARED_AT(ControlSegment, version, 8);
LT_SHARED_AT(ControlSegment, raw_clock, 12);
LT_SHARED_AT(ControlSegment, cpus, 16);
LT_SHARED_AT(ControlSegment, claimed, 20);
LT_SHARED_AT(ControlSegment, data_bytes, 24);
LT_SHARED_AT(ControlSegment, user_count, 32);
LT_SHARED_AT(ControlSegment, event_high, 36);
LT_SHARED_AT(ControlSegment, event_changes, 40);
LT_SHARED_AT(ControlSegment, abi, 48);
LT_SHARED_AT(ControlSegment, user_changes, 56);
LT_SHARED_AT(ControlSegment, owner_alive, 64);
LT_SHARED_AT(ControlSegment, events, 128);
LT_SHARED_AT(ControlSegment, files, 128 + kMaxEvents * 32);
LT_SHARED_AT(ControlSegment, descriptions, 128 + kMaxEvents * 32 + kMaxFiles * 8);
LT_SHARED_AT(ControlSegment, counter_line, 128 + kMaxEvents * (32 + sizeof(SlotDescription)) + kMaxFiles * 8);
LT_SHARED_AT(ControlSegment, probe_high, offsetof(ControlSegment, counter_line) + 32);
LT_SHARED_AT(ControlSegment, probe_changes, offsetof(ControlSegment, counter_line) + 36);
LT_SHARED_AT(ControlSegment, probes, (offsetof(ControlSegment, counter_line) + 40 + 63) / 64 * 64);
// An owner must not hold a lock of another size than its producers see.
static_assert(sizeof(pthread_mutex_t) <= 64);

// FUTEX_OWNER_DIED of the futex ABI; glibc keeps the futex word first in a pthread_mutex_t.
inline constexpr std::uint32_t kOwnerDied = 0x40000000;

}  // namespace landtrace::plan
