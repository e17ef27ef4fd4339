// What runs at a hit: between the assembler of stubs.cc and the handlers. Compiled without vector registers; uses
// nothing of libc, no lock, and no allocation.
#pragma once

#include <cstdint>

#include "agent/site.hpp"

namespace landtrace::agent {

// A slot seems abandoned when the return address of its call is gone from the stack: after longjmp, an exception, the
// end of a thread; or as the stack was copied aside, as greenlets do, and then its call comes back. So slots are freed
// only where there is no plenty; at a site's limit such calls do not count any more, and keep their slots. The agent's
// thread calls these now and then; they return how many slots they found.
std::uint32_t free_abandoned_slots();
std::uint32_t uncount_abandoned_slots();

// The registers of the hit whose handler the calling thread runs; nullptr: none.
const std::uint64_t* registers_of_hit();

// Whether a call in progress will come back through the site.
bool is_awaited(const Site* site);
// How many such calls there are, of all sites.
std::uint32_t slots_in_use();

// In a forked child, in the thread that has forked: it has another id there, by which its slots are its own.
void own_slots_after_fork();

// The threads that the kernel does not know any more give their slots back.
void forget_dead_threads(std::uint32_t process);

// Rises with each change of the loader's list of objects; and the thread that changes it waits, for a while, until the
// agent says that it has looked. Where that was in vain nobody waits again until it has looked.
struct LoaderChanges {
  std::uint32_t changed;  // pairs with: `seen`, both by release and acquire
  std::uint32_t seen;
  std::uint32_t* wake;  // is counted up and woken, too, if there is one
  // How long: on a busy machine the agent's thread may not get a CPU before, and calls of what was loaded would be
  // missing. A variable for tests, which cannot know when it does.
  long patience_ns = 1'000'000'000;
};
LoaderChanges& loader_changes();
void loader_changes_seen(std::uint32_t changed);

}  // namespace landtrace::agent
