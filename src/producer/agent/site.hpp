// What a stub in a program knows of its place, and the calls in progress whose return is probed. Read and written by
// the assembler in stubs.cc; so parts do not move without it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/recipe.hpp"

namespace landtrace::agent {

// What an entry leaves for the return of the same call.
struct EntryData {
  std::uint64_t value[8];
};

enum Wants : std::uint8_t {
  kWantsEntry = 1,
  kWantsReturn = 2,
  // The loader's function that says that its list of objects changes.
  kWantsLoader = 4,
};

// A place in this process. It stays where it is as long as its stub does: threads may be in the stub.
struct alignas(64) Site {
  std::uint64_t address;
  std::uint32_t number;  // the user's
  std::uint32_t wants;   // 0: nobody listens any more
  std::uint32_t limit;   // calls in progress at most, whose return is probed; 0: no limit of its own
  std::uint32_t active;  // so many there are, where there is a limit
  std::uint32_t pause;   // so many times no look for abandoned calls at the limit
  std::uint64_t missed;  // hits that were not handed on, and returns that could not be followed
  std::uint32_t lead;    // `address` is where the jump is, so many bytes before the place
  // What its user remembers of it, of entries and of returns. With what else a hit reads first on one line.
  alignas(16) mutable std::uint32_t of_entries[4];
  alignas(16) mutable std::uint32_t of_returns[4];

  [[nodiscard]] std::uint64_t place() const { return address + lead; }
};

// What the user of the agent does at a hit. Called with the registers of the place in `registers` and no other
// promise than 16-byte alignment: such a function uses no vector register, nothing of libc, no lock, no allocation.
// `data` is what the return will get; nullptr where no return of this call will be seen.
using Hit = void (*)(const Site* site, Registers* registers, EntryData* data);
// At a return: rax and rdx are the function's result, kRip is where it returns to, kRsp is as behind the return.
using Returned = void (*)(const Site* site, Registers* registers, EntryData* data);
// What of `wants` a hit could not be handed on for: in the middle of a handler, or as no more calls can be followed. As
// bare as the others, and called within them.
using Missed = void (*)(const Site* site, std::uint32_t wants);
struct Handlers {
  Hit hit;
  Returned returned;
  Missed missed = nullptr;  // nobody asks
};

//   0        8                16     24     32     96       104           112   128
//   +--------+----------------+------+------+------+--------+--------------+-----+
//   | target | return_address | word | site | data | serial | cfa_distance |     |
//   +--------+----------------+------+------+------+--------+--------------+-----+
// A call in progress whose return is probed. Its number is that of the stub in the program's table of return stubs.
struct alignas(128) Slot {
  std::uint64_t target;          // what the stub calls: the copy of the displaced instructions
  std::uint64_t return_address;  // to the caller
  // 0: free. Else the stack's word that holds the return address, below a serial of 16 bits; its lowest bit is set
  // while the slot is being filled or emptied, the next one where the call counts against its site's limit.
  std::uint64_t word;
  const Site* site;
  EntryData data;
  std::uint64_t serial;
  // How far above the stack pointer the frame of the stub seems to end, for whoever unwinds: 4, and less where the
  // caller is a return stub itself, as after a tail call. No other frame's CFA is so.
  std::uint64_t cfa_distance;
};
static_assert(sizeof(Slot) == 128 && offsetof(Slot, target) == 0 && offsetof(Slot, return_address) == 8 &&
              offsetof(Slot, word) == 16 && offsetof(Slot, cfa_distance) == 104);

inline constexpr std::uint32_t kSlots = 16384;
inline constexpr std::uint32_t kSlotsInChunk = 16;
inline constexpr std::uint32_t kChunks = kSlots / kSlotsInChunk;
inline constexpr std::uint32_t kReturnStubSize = 16;

// What a thread keeps. No constructor: it is there, zero, whenever a probe is hit.
struct ThreadState {
  // The registers of the hit whose handler runs; nullptr: none. kIgnored: hits of this thread do not count.
  Registers* inside;
  // The slot to try first.
  Slot* next;
  std::uint32_t thread;
  std::uint32_t chunk;  // of the slot that was taken last
  std::uint32_t pause;  // so many times no look for abandoned slots
  std::uint32_t dry;    // so many times no look for free ones in all chunks
  std::uint32_t owned;  // chunks
  bool is_silent;       // make_no_calls()
};

// Where threads of the program stand while they are in no code of its own.
struct CodeRange {
  std::uint64_t begin;
  std::uint64_t end;
  [[nodiscard]] bool holds(std::uint64_t address) const { return address >= begin && address < end; }
};

// The return stubs: a frame with such a pc stands between a probed function and its caller.
CodeRange return_stubs();

// Whether the calling thread may make no system calls, which its first probed return needs: the next would end it.
void make_no_calls(bool none);

// Hits of the calling thread are neither handed on nor missed from here on: it is the tracer's.
void ignore_this_thread();

// The same for what the tracer does in a thread of the program.
class Ignored {
 public:
  Ignored();
  ~Ignored();
  Ignored(const Ignored&) = delete;
  Ignored& operator=(const Ignored&) = delete;

 private:
  Registers* before_;
};

void set_handlers(const Handlers& handlers);

}  // namespace landtrace::agent
