// Makes sure that no other thread of the program is within bytes that are about to change, and keeps it so while they
// do.
//
// Threads that run are stopped by ptrace, for some 100 us, by a helper process that shares the memory. Threads that
// are blocked in a system call are left alone, since some calls would return EINTR. But one may come back at any
// time, so the instruction behind its call is a jump to itself meanwhile: it waits there. A signal would lead it
// elsewhere, and stops it, since the helper traces all threads.
//
//   seize all; interrupt what runs; guard what is blocked; look again until nothing is left that could move;
//   send whoever stands within the bytes on in the copy of the instructions; look through the stacks for signal frames
//   that lead there; write; take the guards away; let go
//
// The helper may be killed at any instruction: all threads run on then, at once. So each place changes by one store,
// where all are out of it, no thread is led through it step by step (the rest of a step would kill it), and what the
// helper has to put back is written down before it changes anything; whoever waits for it does that then.
//
//     other_threads.cc   begins the helper, and waits for its end
//     stop.cc            stops threads until none is left that could move
//     stop_guards.cc     the jumps behind calls
//     stop_write.cc      moves threads out of the bytes, and writes
//
// In the helper there is neither libc nor allocation: a stopped thread may hold any lock.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "agent/maps.hpp"

namespace landtrace::agent {

// A jump to be written where threads may be.
struct Patch {
  std::uint64_t address;
  std::uint8_t bytes[5];
  std::uint32_t size;
  // Where a thread goes on that stands so many bytes behind the address; 0: nowhere.
  std::uint64_t moved[5];
  bool written = false;
};

enum class StopResult : std::uint8_t {
  kDone,          // what could be written is; the other patches have a thread in them
  kNotPermitted,  // the system does not let a process look at another
  kTraced,        // a debugger has the program
  kBusy,          // a thread did not stop in time, or waits for a child that shares the memory
};

struct StopReport {
  StopResult result = StopResult::kBusy;
  std::uint64_t stopped_ns = 0;  // how long threads were stopped
  std::uint32_t threads = 0;     // so many were
};

// Writes the patches, sorted by their addresses, whose pages are writable already. `maps` is what was mapped a moment
// ago.
// Threads that have not all stopped within `patience_ns` are let go again: kBusy.
StopReport write_with_others_stopped(std::span<Patch> patches, const std::vector<Mapped>& maps,
                                     std::uint64_t patience_ns);

// Under Yama the helper is named as who may trace the program, which cannot be asked whom it has named before: `ask`
// says that, and he is named again when the helper has ended. Without it, nobody.
void set_usual_tracer(unsigned long (*ask)());

// Whether the calling thread is the only one.
bool is_alone();

}  // namespace landtrace::agent
